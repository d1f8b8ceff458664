# What of csrc the tokenizer calls.
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t


cdef extern from "bpe_files.h" nogil:
    enum:
        BPE_NO_MEMORY
        BPE_TIKTOKEN
        BPE_VOCAB_JSON
    ctypedef struct byte_strings:
        const uint8_t *bytes
        const uint32_t *ends
        size_t n
    ctypedef struct bpe:
        pass
    const char *bpe_fault_format(int fault)
    int bpe_load(int format, const uint8_t *file, size_t n, bpe **out, size_t *at)
    int bpe_set_specials(
        bpe *b, const byte_strings *specials, const int32_t *ids, size_t *at)
    int bpe_check_merges(const bpe *b, const uint8_t *file, size_t n, size_t *at)
    void bpe_destroy(bpe *b)
    size_t bpe_size(const bpe *b)
    size_t bpe_scratch_words(size_t n)
    size_t bpe_encode(
        const bpe *b, const uint8_t *text, size_t n, bint specials, uint64_t *scratch,
        int32_t *out)
    size_t bpe_decoded_size(const bpe *b, const int32_t *ids, size_t n, size_t *at)
    void bpe_decode(const bpe *b, const int32_t *ids, size_t n, uint8_t *out)

cdef extern from "unicode.h" nogil:
    bint unicode_is_nfc(const uint8_t *text, size_t n)

cdef enum:
    STACK_BYTES = 1024
    STACK_WORDS = 17  # bpe_scratch_words(STACK_BYTES)

cdef struct encoding:
    const uint8_t *text
    Py_ssize_t length
    Py_ssize_t n_ids  # -1 where the text may not be in NFC


cdef inline const uint8_t *utf8_of(object text, Py_ssize_t *n) except NULL:
    """Memory of the text, n bytes, that lives as long as the text does."""
    return <const uint8_t *> PyUnicode_AsUTF8AndSize(text, n)
