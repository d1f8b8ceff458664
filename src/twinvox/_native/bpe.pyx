"""Byte-level BPE with the pre-tokeniser of Qwen2."""

import numpy as np

cimport cython
from cpython.buffer cimport (
    PyBUF_WRITABLE,
    PyBuffer_IsContiguous,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from twinvox._native.arrays cimport borrow


cdef object empty = np.empty
cdef object int32 = np.dtype(np.int32)


cdef int check(int fault, size_t at) except -1:
    if fault == BPE_NO_MEMORY:
        raise MemoryError("no memory for the tokenizer's tables")
    if fault:
        message = bpe_fault_format(fault).decode()
        raise ValueError(message.replace("%zu", str(at)))
    return 0


cdef object as_array(const int32_t *ids, size_t n):
    cdef Py_buffer target
    out = empty(n, int32)
    PyObject_GetBuffer(out, &target, PyBUF_WRITABLE)
    memcpy(target.buf, ids, n * sizeof(int32_t))
    PyBuffer_Release(&target)
    return out


@cython.final
cdef class BytePairEncoder:
    cdef bpe *tables

    def __cinit__(self, bytes vocabulary not None, *, bint tiktoken):
        cdef const uint8_t *file = vocabulary
        cdef size_t n = len(vocabulary)
        cdef size_t at = 0
        cdef int fault
        cdef int format = BPE_TIKTOKEN if tiktoken else BPE_VOCAB_JSON
        with nogil:
            fault = bpe_load(format, file, n, &self.tables, &at)
        check(fault, at)

    def __dealloc__(self):
        bpe_destroy(self.tables)

    def __len__(self):
        return bpe_size(self.tables)

    def check_merges(self, bytes merges not None):
        cdef size_t at = 0
        cdef int fault = bpe_check_merges(self.tables, merges, len(merges), &at)
        check(fault, at)

    def set_specials(self, dict specials not None):
        tokens = sorted(specials, key=specials.get)
        cdef bytes joined = b"".join(tokens)
        lengths = [len(token) for token in tokens]
        cdef bytes ends = np.cumsum(lengths, dtype=np.uint32).tobytes()
        cdef bytes ids = np.array(sorted(specials.values()), np.int32).tobytes()
        cdef byte_strings strings = byte_strings(
            joined, <const uint32_t *> PyBytes_AsString(ends), len(tokens))
        cdef size_t at = 0
        cdef int fault = bpe_set_specials(
            self.tables, &strings, <const int32_t *> PyBytes_AsString(ids), &at)
        check(fault, at)

    def encode(self, str text not None, bint specials):
        cdef Py_ssize_t n
        cdef const uint8_t *utf8 = utf8_of(text, &n)
        return self.encode_utf8(utf8, n, specials) if unicode_is_nfc(utf8, n) else None

    def encode_normalized(self, str text not None):
        cdef Py_ssize_t n
        cdef const uint8_t *utf8 = utf8_of(text, &n)
        return self.encode_utf8(utf8, n, False)

    cdef object encode_utf8(self, const uint8_t *utf8, size_t n, bint specials):
        cdef int32_t few_ids[STACK_BYTES]
        cdef uint64_t few_words[STACK_WORDS]
        if n <= STACK_BYTES:  # taking the GIL again would be what costs most
            return as_array(
                few_ids, bpe_encode(self.tables, utf8, n, specials, few_words, few_ids))
        cdef size_t words = bpe_scratch_words(n)
        cdef bytes memory = PyBytes_FromStringAndSize(NULL, 8 * words + 4 * n)
        cdef uint64_t *scratch = <uint64_t *> PyBytes_AsString(memory)
        cdef int32_t *ids = <int32_t *> (scratch + words)
        with nogil:
            n = bpe_encode(self.tables, utf8, n, specials, scratch, ids)
        return as_array(ids, n)

    def encode_batch(self, tuple texts not None, bint specials):
        cdef Py_ssize_t n = len(texts)
        cdef bytes jobs = PyBytes_FromStringAndSize(NULL, n * sizeof(encoding))
        cdef encoding *job = <encoding *> PyBytes_AsString(jobs)
        cdef size_t total = 0
        cdef Py_ssize_t i
        for i in range(n):
            job[i].text = utf8_of(texts[i], &job[i].length)
            total += job[i].length
        cdef size_t words = bpe_scratch_words(total)
        cdef bytes memory = PyBytes_FromStringAndSize(NULL, 8 * words + 4 * total)
        cdef uint64_t *scratch = <uint64_t *> PyBytes_AsString(memory)
        cdef int32_t *ids = <int32_t *> (scratch + words)
        with nogil:
            for i in range(n):
                job[i].n_ids = -1
                if unicode_is_nfc(job[i].text, job[i].length):
                    job[i].n_ids = bpe_encode(
                        self.tables, job[i].text, job[i].length, specials, scratch, ids)
                    ids += job[i].n_ids
        ids = <int32_t *> (scratch + words)
        out = []
        for i in range(n):
            out.append(None if job[i].n_ids < 0 else as_array(ids, job[i].n_ids))
            ids += max(job[i].n_ids, 0)
        return out

    def decode(self, ids):
        cdef Py_buffer source
        cdef size_t at = 0
        borrow(ids, &source, "ids", ("int32",), 1)
        cdef const int32_t *first = <const int32_t *> source.buf
        cdef size_t n = source.shape[0]
        try:
            if not PyBuffer_IsContiguous(&source, b"C"):
                raise ValueError(
                    "ids must be contiguous: pass numpy.ascontiguousarray of them"
                )
            size = bpe_decoded_size(self.tables, first, n, &at)
            if size == <size_t> -1:
                raise ValueError(f"no token has the id {first[at]}")
            out = PyBytes_FromStringAndSize(NULL, size)
            bpe_decode(self.tables, first, n, <uint8_t *> PyBytes_AsString(out))
            return out
        finally:
            PyBuffer_Release(&source)
