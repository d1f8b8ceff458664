"""Repetition-aware sampling of speech tokens."""

cimport cython
from cpython.buffer cimport PyBuffer_IsContiguous, PyBuffer_Release
from libc.stddef cimport size_t
from libc.stdint cimport INT32_MAX, int32_t, uint64_t

from twinvox._native.arrays cimport borrow

from twinvox.errors import SynthesisError


cdef extern from "simd.h" nogil:
    ctypedef enum simd_level:
        SIMD_LEVELS
    simd_level simd_best()
    simd_level simd_named(const char *name)

cdef extern from "ras.h" nogil:
    enum:
        RAS_MAX_TOP_K
        RAS_MAX_WIN_SIZE
    ctypedef struct ras_params:
        double top_p
        size_t top_k
        size_t win_size
        double tau_r
        size_t min_tokens
        size_t first_stop_id
    ctypedef struct ras_state:
        pass

    int ras_check(const ras_params *params)
    void ras_start(ras_state *state, uint64_t seed)
    void ras_record(const ras_params *params, ras_state *state, int32_t id)
    int ras_sample(
        const ras_params *params, simd_level level, const float *logits, size_t n,
        ras_state *state, int32_t *id)


@cython.final
cdef class RasSampler:
    cdef ras_params params
    cdef ras_state state
    cdef list seed_tokens
    cdef Py_ssize_t replayed

    def __init__(
        self, seed, *, double top_p, Py_ssize_t top_k, Py_ssize_t win_size,
        double tau_r, Py_ssize_t min_tokens=0, first_stop_id=None, seed_tokens=(),
    ):
        if not isinstance(seed, int):
            raise TypeError(f"seed must be an int, got {type(seed).__name__}")
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed must be in [0, 2**64), got {seed}")
        if min_tokens < 0 or min_tokens > 0 and first_stop_id is None:
            raise ValueError(
                "min_tokens must not be negative and needs first_stop_id, "
                f"got {min_tokens} and {first_stop_id}"
            )
        self.params = ras_params(
            top_p, max(top_k, 0), max(win_size, 0), tau_r, min_tokens,
            INT32_MAX if first_stop_id is None else max(first_stop_id, 0))
        if ras_check(&self.params):
            raise ValueError(
                f"top_p must be in (0, 1], top_k in 1..{RAS_MAX_TOP_K}, win_size in "
                f"1..{RAS_MAX_WIN_SIZE} (a tau_r above 1 turns it off), tau_r not "
                f"negative and first_stop_id positive, got {top_p}, {top_k}, "
                f"{win_size}, {tau_r} and {first_stop_id}"
            )
        ras_start(&self.state, seed)
        self.seed_tokens = list(map(int, seed_tokens))
        for token in self.seed_tokens:
            if not 0 <= token <= INT32_MAX:
                raise ValueError(f"seed_tokens must be token ids, got {token}")
        self.replayed = 0

    def sample(self, logits):
        return self.next_token(logits, simd_best())

    def _at_level(self, logits, str level):
        cdef simd_level found = simd_named(level.encode())
        if found == SIMD_LEVELS:
            raise ValueError(f'no kernels for "{level}" here')
        return self.next_token(logits, found)

    cdef object next_token(self, object logits, simd_level level):
        cdef Py_buffer view
        if self.replayed < len(self.seed_tokens):
            token = self.seed_tokens[self.replayed]
            ras_record(&self.params, &self.state, token)
            self.replayed += 1
            return token
        borrow(logits, &view, "logits", ("float32",), -1)
        try:
            if not PyBuffer_IsContiguous(&view, b"C"):
                raise ValueError("logits must be contiguous: pass rows.compact of them")
            return self.draw(&view, level)
        finally:
            PyBuffer_Release(&view)

    cdef object draw(self, Py_buffer *view, simd_level level):
        cdef int32_t token
        cdef int failed
        cdef Py_ssize_t n = view.len // view.itemsize
        # A copy, so that two threads sharing one sampler cannot tear its state.
        cdef ras_state state = self.state
        if n == 0:
            raise ValueError("logits are empty")
        with nogil:
            failed = ras_sample(
                &self.params, level, <const float *> view.buf, n, &state, &token)
        if failed:
            raise SynthesisError(
                f"the model gave no distribution over {n} tokens: a logit is NaN or "
                "+infinity, or none is above -infinity"
            )
        self.state = state
        return token
