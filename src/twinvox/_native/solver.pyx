"""One step of the anchor-Euler flow solver."""

from cpython.buffer cimport PyBuffer_Release
from libc.stddef cimport size_t

from twinvox._native.arrays cimport borrow, borrow_output, row_pitch, shape_of


cdef extern from "simd.h" nogil:
    ctypedef enum simd_level:
        pass
    simd_level simd_best()

cdef extern from "solver.h" nogil:
    void c_step "anchor_euler_step"(
        simd_level level, float *x, const float *v, size_t frames, size_t n_mels,
        size_t v_pitch, float t, float t_next, bint last)


def anchor_euler_step(x, v, float t, float t_next, bint last):
    cdef Py_buffer state, velocity
    borrow_output(x, &state, "x", ("float32",), 2)
    try:
        borrow(v, &velocity, "v", ("float32",), 2)
        try:
            step(&state, &velocity, t, t_next, last)
        finally:
            PyBuffer_Release(&velocity)
    finally:
        PyBuffer_Release(&state)


cdef int step(
    Py_buffer *state, Py_buffer *velocity, float t, float t_next, bint last
) except -1:
    cdef Py_ssize_t frames = state.shape[0]
    cdef Py_ssize_t n_mels = state.shape[1]
    cdef Py_ssize_t pitch
    if velocity.shape[0] != frames or velocity.shape[1] != n_mels:
        raise ValueError(
            f"x and v must have one shape, got {shape_of(state)} and "
            f"{shape_of(velocity)}"
        )
    pitch = row_pitch(velocity, "v")
    with nogil:
        c_step(
            simd_best(), <float *> state.buf, <const float *> velocity.buf,
            frames, n_mels, pitch, t, t_next, last)
    return 0
