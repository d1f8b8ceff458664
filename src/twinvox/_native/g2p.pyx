"""The pronunciation lexicon and the clause machine of the English front end."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset


cdef void *room(size_t n, size_t size) except NULL:
    cdef void *memory = PyMem_Malloc(n * size)
    if memory == NULL:
        raise MemoryError
    return memory


cdef form_t view(str text) except *:
    cdef form_t form
    cdef Py_ssize_t n
    form.bytes = <const uint8_t *> PyUnicode_AsUTF8AndSize(text, &n)
    form.n = n
    form.coded = False
    return form


@cython.final
cdef class Lexicon:
    cdef blob_t lexicon
    cdef Py_buffer blob
    cdef uint64_t *index

    def __cinit__(self, blob):
        PyObject_GetBuffer(blob, &self.blob, PyBUF_SIMPLE)
        if not self.blob.readonly:
            raise ValueError("blob must be read-only, as bytes are")
        cdef size_t n_blocks = lexicon_blocks(self.blob.buf, self.blob.len)
        self.index = <uint64_t *> room(n_blocks + 1, sizeof(uint64_t))
        if lexicon_open(&self.lexicon, self.blob.buf, self.blob.len, self.index):
            raise ValueError("blob is no lexicon of this version, or damaged")

    def __dealloc__(self):
        PyMem_Free(self.index)
        PyBuffer_Release(&self.blob)

    def __len__(self):
        return self.lexicon.n_entries

    def find(self, str key):
        cdef form_t text = view(key)
        cdef entry_t entry
        cdef form_t form
        if not lexicon_find(&self.lexicon, <const char *> text.bytes, text.n, &entry):
            return None
        forms = {
            context: self.spell(&form) for context in range(LEXICON_CONTEXTS)
            if lexicon_entry_form(&entry, context, &form)
        }
        return self.spell(&entry.base), entry.flags, forms or None

    cdef str spell(self, const form_t *form):
        cdef size_t n = lexicon_form_size(&self.lexicon, form)
        cdef uint8_t *out = <uint8_t *> room(n, 1)
        try:
            lexicon_spell(&self.lexicon, form, out)
            return PyUnicode_DecodeUTF8(<const char *> out, n, NULL)
        finally:
            PyMem_Free(out)

    def speak_line(self, str line, bint loud, pronounce):
        cdef form_t text = view(line)
        cdef size_t n
        cdef char *lower = <char *> room(text.n + 1, 1)
        cdef clause_word *words = NULL
        try:
            words = <clause_word *> room(text.n // 2 + 1, sizeof(clause_word))
            n = clause_split(<const char *> text.bytes, text.n, lower, words)
            return self.run(words, n, loud, pronounce)
        finally:
            PyMem_Free(words)
            PyMem_Free(lower)

    def speak(self, tokens, bint loud, pronounce):
        cdef list kept = [(token, token[0].lower()) for token in tokens]
        cdef size_t n = len(kept)
        cdef clause_word *words = <clause_word *> room(n + 1, sizeof(clause_word))
        cdef clause_word *word = words
        try:
            for (text, glued, apart, hyphen, closed, quoted), lower in kept:
                word.text = PyUnicode_AsUTF8AndSize(text, <Py_ssize_t *> &word.n)
                word.lower = PyUnicode_AsUTF8AndSize(
                    lower, <Py_ssize_t *> &word.n_lower)
                word.marks = (
                    WORD_GLUED * bool(glued) | WORD_APART * bool(apart)
                    | WORD_HYPHEN * bool(hyphen) | WORD_CLOSED * bool(closed)
                    | WORD_QUOTED * bool(quoted))
                word += 1
            return self.run(words, n, loud, pronounce)
        finally:
            PyMem_Free(words)

    cdef object run(self, clause_word *words, size_t n, bint loud, object pronounce):
        cdef clause_t clause
        cdef uint8_t *out = NULL
        memset(&clause, 0, sizeof(clause))
        clause.lexicon, clause.words, clause.n_words = &self.lexicon, words, n
        clause.loud = loud
        clause.units = <clause_unit *> room(n + 1, sizeof(clause_unit))
        kept = []
        try:
            while not clause_gather(&clause):
                add_unknown(&clause, pronounce, kept)
            if clause.n_units == 0:
                return None
            clause_choose(&clause)
            out = <uint8_t *> room(clause_room(&clause), 1)
            n = clause_speak(&clause, out)
            return PyUnicode_DecodeUTF8(<const char *> out, n, NULL)
        finally:
            PyMem_Free(clause.units)
            PyMem_Free(out)


cdef int add_unknown(clause_t *clause, object pronounce, list kept) except -1:
    """Takes what pronounce says of the word at hand; kept holds what an entry views."""
    cdef const clause_word *word = &clause.words[clause.at]
    cdef entry_t entry
    cdef form_t *forms
    text = PyUnicode_DecodeUTF8(word.text, word.n, NULL)
    found = pronounce(text, clause.loud, clause.at + 1 == clause.n_words)
    if found is None:
        clause.at += 1
        return 0
    base, flags, by_context = found
    memset(&entry, 0, sizeof(entry))
    entry.base = view(base)
    entry.flags = flags
    store = PyBytes_FromStringAndSize(NULL, LEXICON_CONTEXTS * sizeof(form_t))
    forms = <form_t *> PyBytes_AsString(store)
    memset(forms, 0, LEXICON_CONTEXTS * sizeof(form_t))
    if by_context:
        entry.by_context = forms
        for context, form in by_context.items():
            if not 0 <= context < LEXICON_CONTEXTS:
                raise ValueError(f"{found} has a form for an unknown context {context}")
            forms[<unsigned> context] = view(form)
    kept.append((found, store))
    clause_add(clause, &entry)
    return 0
