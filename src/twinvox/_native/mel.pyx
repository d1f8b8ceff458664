"""Natural-log mel spectrograms."""

import numpy as np

cimport cython
from cpython.buffer cimport PyBuffer_IsContiguous, PyBuffer_Release
from libc.stddef cimport size_t
from libc.stdlib cimport free, malloc

from twinvox._native.arrays cimport borrow, borrow_output


cdef extern from "status.h" nogil:
    enum:
        STATUS_NO_MEMORY
        STATUS_BAD_ARGUMENT

cdef extern from "simd.h" nogil:
    ctypedef enum simd_level:
        SIMD_LEVELS
    simd_level simd_best()
    simd_level simd_named(const char *name)

cdef extern from "mel.h" nogil:
    ctypedef enum mel_scale:
        MEL_HTK
        MEL_SLANEY
    ctypedef struct mel_params:
        double sample_rate
        size_t n_fft
        size_t hop_length
        size_t n_mels
        size_t pad
        mel_scale scale
        float magnitude_epsilon
        float log_floor
    ctypedef struct mel_plan:
        pass

    int mel_plan_create(const mel_params *params, mel_plan **plan)
    void mel_plan_destroy(mel_plan *plan)
    size_t mel_min_samples(const mel_plan *plan)
    size_t mel_frames(const mel_plan *plan, size_t n_samples)
    size_t mel_scratch_size(const mel_plan *plan, simd_level level)
    void mel_compute(
        const mel_plan *plan, simd_level level, const float *samples, size_t n_samples,
        void *scratch, float *out)


@cython.final
cdef class LogMel:
    cdef mel_plan *plan
    cdef mel_params params

    def __cinit__(
        self, *, int sample_rate, Py_ssize_t n_fft, Py_ssize_t hop_length,
        Py_ssize_t n_mels, str mel_scale, Py_ssize_t pad, float log_floor,
        float magnitude_epsilon=0.0,
    ):
        if mel_scale not in ("htk", "slaney"):
            raise ValueError(f'mel_scale must be "htk" or "slaney", got "{mel_scale}"')
        if min(sample_rate, n_fft, hop_length, n_mels) < 1 or pad < 0:
            raise ValueError(
                "sample_rate, n_fft, hop_length and n_mels must be positive and pad "
                "not negative, "
                f"got {sample_rate}, {n_fft}, {hop_length}, {n_mels} and {pad}"
            )
        self.params.sample_rate = sample_rate
        self.params.n_fft = n_fft
        self.params.hop_length = hop_length
        self.params.n_mels = n_mels
        self.params.pad = pad
        self.params.scale = MEL_HTK if mel_scale == "htk" else MEL_SLANEY
        self.params.magnitude_epsilon = magnitude_epsilon
        self.params.log_floor = log_floor
        cdef int failed = mel_plan_create(&self.params, &self.plan)
        if failed == STATUS_NO_MEMORY:
            raise MemoryError("no memory for the mel plan")
        if failed == STATUS_BAD_ARGUMENT:
            raise ValueError(
                "n_fft must be 1, 3, 5 or 15 times a power of two from 16 on, "
                "log_floor positive and magnitude_epsilon not negative, "
                f"got {n_fft}, {log_floor} and {magnitude_epsilon}"
            )

    def __dealloc__(self):
        mel_plan_destroy(self.plan)

    @property
    def min_samples(self):
        return mel_min_samples(self.plan)

    def __call__(self, samples):
        return self.spectrogram(samples, simd_best())

    def _at_level(self, samples, str level):
        cdef simd_level found = simd_named(level.encode())
        if found == SIMD_LEVELS:
            raise ValueError(f'no kernels for "{level}" here')
        return self.spectrogram(samples, found)

    cdef object spectrogram(self, object samples, simd_level level):
        cdef Py_buffer source, target
        borrow(samples, &source, "samples", ("float32",), 1)
        try:
            if not PyBuffer_IsContiguous(&source, b"C"):
                raise ValueError(
                    "samples must be contiguous: pass numpy.ascontiguousarray of them"
                )
            if source.shape[0] < self.min_samples:
                raise ValueError(
                    f"samples must be at least {self.min_samples} long (the ends are "
                    f"reflected), got {source.shape[0]}"
                )
            frames = mel_frames(self.plan, source.shape[0])
            out = np.empty((frames, self.params.n_mels), np.float32)
            borrow_output(out, &target, "out", ("float32",), 2)
            try:
                self.compute(&source, &target, level)
            finally:
                PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&source)
        return out

    cdef int compute(
        self, Py_buffer *source, Py_buffer *target, simd_level level
    ) except -1:
        cdef void *scratch = malloc(mel_scratch_size(self.plan, level))
        if scratch == NULL:
            raise MemoryError("no memory for the mel scratch")
        with nogil:
            mel_compute(
                self.plan, level, <const float *> source.buf, source.shape[0], scratch,
                <float *> target.buf)
        free(scratch)
        return 0
