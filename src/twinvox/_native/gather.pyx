"""Rows of an embedding table, looked up by id."""

from cpython.buffer cimport PyBuffer_IsContiguous, PyBuffer_Release
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint16_t

from twinvox._native.arrays cimport borrow, borrow_output, shape_of


cdef extern from "gather.h" nogil:
    size_t gather_first_bad(const int32_t *ids, size_t n, size_t n_rows)
    void gather_float32(
        const float *table, size_t channels, const int32_t *ids, size_t n, float *out)
    void gather_float16(
        const uint16_t *table, size_t channels, const int32_t *ids, size_t n,
        float *out)


def gather(table, ids, out):
    cdef Py_buffer source, chosen, target
    borrow(table, &source, "table", ("float16", "float32"), 2)
    try:
        borrow(ids, &chosen, "ids", ("int32",), 1)
        try:
            borrow_output(out, &target, "out", ("float32",), 2)
            try:
                copy_rows(&source, &chosen, &target)
            finally:
                PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&chosen)
    finally:
        PyBuffer_Release(&source)


cdef int copy_rows(
    Py_buffer *source, Py_buffer *chosen, Py_buffer *target
) except -1:
    cdef Py_ssize_t n = chosen.shape[0]
    cdef Py_ssize_t channels = source.shape[1]
    cdef const int32_t *ids = <const int32_t *> chosen.buf
    cdef size_t bad
    if not PyBuffer_IsContiguous(source, b"C"):
        raise ValueError("table must be C-contiguous")
    if not PyBuffer_IsContiguous(chosen, b"C"):
        raise ValueError("ids must be contiguous: pass rows.compact of them")
    if target.shape[0] != n or target.shape[1] != channels:
        raise ValueError(f"out must be [{n}, {channels}], got {shape_of(target)}")
    bad = gather_first_bad(ids, n, source.shape[0])
    if <Py_ssize_t> bad < n:
        raise IndexError(
            f"ids[{bad}] is {ids[bad]}, the table has {source.shape[0]} rows"
        )
    with nogil:
        if source.itemsize == 2:
            gather_float16(
                <const uint16_t *> source.buf, channels, ids, n, <float *> target.buf)
        else:
            gather_float32(
                <const float *> source.buf, channels, ids, n, <float *> target.buf)
    return 0
