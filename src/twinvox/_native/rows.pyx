"""Moving rows between strided model arrays and contiguous ones; float16 <-> float32."""

import numpy as np

from cpython.buffer cimport PyBuffer_IsContiguous, PyBuffer_Release
from libc.stddef cimport size_t
from libc.stdint cimport uint16_t

from twinvox._native.arrays cimport borrow, borrow_output, dtype_of, row_pitch, shape_of


cdef extern from "rows.h" nogil:
    enum:
        ROWS_MAX_RANK
    int rows_compact(
        const void *src, size_t itemsize, size_t rank, const Py_ssize_t *shape,
        const Py_ssize_t *strides, void *out)
    void rows_spread(
        const float *src, size_t channels, size_t pitch, size_t n_tokens,
        size_t n_frames, size_t max_frames, float *out)

cdef extern from "half.h" nogil:
    void half_to_float32(const uint16_t *src, size_t n, float *out)
    void half_from_float32(const float *src, size_t n, uint16_t *out)


def compact(src, out=None):
    cdef Py_buffer source, target
    borrow(src, &source, "src", ("float32", "float16", "int32"), -1)
    try:
        if out is None:
            out = np.empty(src.shape, src.dtype)
        borrow_output(out, &target, "out", (dtype_of(&source),), source.ndim)
        try:
            copy_rows(&source, &target)
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)
    return out


cdef int copy_rows(Py_buffer *source, Py_buffer *target) except -1:
    cdef int failed, axis
    for axis in range(source.ndim):
        if source.shape[axis] != target.shape[axis]:
            raise ValueError(
                f"out must have shape {shape_of(source)}, got {shape_of(target)}"
            )
    with nogil:
        failed = rows_compact(
            source.buf, source.itemsize, source.ndim, source.shape, source.strides,
            target.buf)
    if failed:
        raise ValueError(
            f"src must have at most {ROWS_MAX_RANK} axes, got {source.ndim}"
        )
    return 0


def spread(token_embeds, Py_ssize_t n_tokens, Py_ssize_t n_frames, out):
    cdef Py_buffer source, target
    borrow(token_embeds, &source, "token_embeds", ("float32",), 2)
    try:
        borrow_output(out, &target, "out", ("float32",), 2)
        try:
            spread_rows(&source, n_tokens, n_frames, &target)
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)


cdef int spread_rows(
    Py_buffer *source, Py_ssize_t n_tokens, Py_ssize_t n_frames, Py_buffer *target
) except -1:
    cdef Py_ssize_t channels = source.shape[1]
    cdef Py_ssize_t max_frames = target.shape[0]
    cdef Py_ssize_t pitch = row_pitch(source, "token_embeds")
    if target.shape[1] != channels:
        raise ValueError(
            f"out must have {channels} channels, got shape {shape_of(target)}"
        )
    if not 1 <= n_tokens < source.shape[0]:
        raise ValueError(
            f"n_tokens must be in 1..{source.shape[0] - 1} (the row after the last "
            f"token is the pad slot), got {n_tokens}"
        )
    if not n_tokens <= n_frames <= max_frames:
        raise ValueError(
            f"n_frames must be in {n_tokens}..{max_frames}, got {n_frames}"
        )
    with nogil:
        rows_spread(
            <const float *> source.buf, channels, pitch, n_tokens, n_frames, max_frames,
            <float *> target.buf)
    return 0


def to_float32(src):
    return convert(src, "float16", "float32")


def to_float16(src):
    return convert(src, "float32", "float16")


cdef object convert(object src, str dtype, str out_dtype):
    cdef Py_buffer source, target
    cdef bint widen = out_dtype == "float32"
    cdef Py_ssize_t n
    borrow(src, &source, "src", (dtype,), -1)
    try:
        if not PyBuffer_IsContiguous(&source, b"C"):
            raise ValueError("src must be C-contiguous: pass rows.compact of it")
        out = np.empty(src.shape, out_dtype)
        borrow_output(out, &target, "out", (out_dtype,), source.ndim)
        try:
            n = source.len // source.itemsize
            with nogil:
                if widen:
                    half_to_float32(
                        <const uint16_t *> source.buf, n, <float *> target.buf)
                else:
                    half_from_float32(
                        <const float *> source.buf, n, <uint16_t *> target.buf)
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)
    return out
