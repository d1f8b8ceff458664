"""Seeded random numbers that are the same on every platform."""

import numpy as np

cimport cython
from cpython.buffer cimport PyBuffer_Release
from libc.stddef cimport size_t
from libc.stdint cimport uint64_t

from twinvox._native.arrays cimport borrow_output


cdef extern from "rng.h" nogil:
    ctypedef struct rng_state:
        pass

    void rng_seed(rng_state *state, uint64_t seed)
    uint64_t rng_derive_seed(uint64_t seed, uint64_t index)
    void rng_uniform(rng_state *state, size_t n, float *out)
    void rng_gaussian(rng_state *state, size_t n, float *out)

ctypedef void (*fill_function)(rng_state *, size_t, float *) noexcept nogil


cdef uint64_t as_uint64(object value, str name) except? 0:
    if not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    if not 0 <= value < 2**64:
        raise ValueError(f"{name} must be in [0, 2**64), got {value}")
    return value


def derive_seed(seed, index):
    return rng_derive_seed(as_uint64(seed, "seed"), as_uint64(index, "index"))


@cython.final
cdef class Rng:
    cdef rng_state state

    def __init__(self, seed):
        rng_seed(&self.state, as_uint64(seed, "seed"))

    def uniform(self, shape):
        return self.fill(shape, rng_uniform)

    def gaussian(self, shape):
        return self.fill(shape, rng_gaussian)

    cdef object fill(self, object shape, fill_function function):
        out = np.empty(shape, np.float32)
        flat = out.reshape(-1)
        cdef Py_buffer view
        cdef rng_state state
        borrow_output(flat, &view, "out", ("float32",), 1)
        try:
            # A copy, so that two threads sharing one Rng cannot tear its state.
            state = self.state
            with nogil:
                function(&state, view.shape[0], <float *> view.buf)
            self.state = state
        finally:
            PyBuffer_Release(&view)
        return out
