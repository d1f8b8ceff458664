# What the front end calls of csrc.
from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint64_t


cdef extern from "lexicon.h" nogil:
    enum:
        LEXICON_CONTEXTS
    ctypedef struct blob_t "lexicon":
        size_t n_entries
    ctypedef struct form_t "lexicon_form":
        const uint8_t *bytes
        size_t n
        bint coded
    ctypedef struct entry_t "lexicon_entry":
        form_t base
        unsigned flags
        const form_t *by_context
    size_t lexicon_blocks(const void *blob, size_t size)
    int lexicon_open(blob_t *lexicon, const void *blob, size_t size, uint64_t *index)
    bint lexicon_find(const blob_t *lexicon, const char *key, size_t n, entry_t *entry)
    bint lexicon_entry_form(const entry_t *entry, unsigned context, form_t *form)
    size_t lexicon_form_size(const blob_t *lexicon, const form_t *form)
    uint8_t *lexicon_spell(const blob_t *lexicon, const form_t *form, uint8_t *out)

cdef extern from "clause.h" nogil:
    enum:
        WORD_GLUED
        WORD_APART
        WORD_HYPHEN
        WORD_CLOSED
        WORD_QUOTED
    ctypedef struct clause_word:
        const char *text
        const char *lower
        Py_ssize_t n
        Py_ssize_t n_lower
        unsigned marks
    ctypedef struct clause_unit:
        pass
    ctypedef struct clause_t "clause":
        const blob_t *lexicon
        const clause_word *words
        size_t n_words
        clause_unit *units
        size_t n_units
        size_t at
        bint loud
    size_t clause_split(const char *line, size_t n, char *lower, clause_word *words)
    bint clause_gather(clause_t *clause)
    void clause_add(clause_t *clause, const entry_t *entry)
    void clause_choose(clause_t *clause)
    size_t clause_room(const clause_t *clause)
    size_t clause_speak(clause_t *clause, uint8_t *out)
