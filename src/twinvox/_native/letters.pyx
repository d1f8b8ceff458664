"""How words outside the lexicon sound, letter by letter."""

cimport cython
from cpython.bytes cimport PyBytes_AsString
from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t


cdef extern from "simd.h" nogil:
    ctypedef enum simd_level:
        SIMD_LEVELS
    simd_level simd_best()
    simd_level simd_named(const char *name)

cdef extern from "letters.h" nogil:
    enum:
        LETTERS_LONGEST
    ctypedef struct letters_network:
        size_t n_letters
    int letters_open(
        letters_network *network, const void *weights, size_t size, size_t n_layers,
        size_t n_letters, size_t n_labels)
    void letters_speak(
        const letters_network *network, simd_level level, const uint8_t *word, size_t n,
        uint16_t *labels)


LONGEST = LETTERS_LONGEST


@cython.final
cdef class LetterNetwork:
    cdef letters_network network
    cdef bytes weights

    def __cinit__(
        self, bytes weights, *, size_t n_layers, size_t n_letters, size_t n_labels
    ):
        self.weights = weights
        if letters_open(
            &self.network, PyBytes_AsString(weights), len(weights), n_layers, n_letters,
            n_labels,
        ):
            raise ValueError(
                f"weights of {len(weights)} bytes are not those of {n_layers} layers, "
                f"{n_letters} letters and {n_labels} labels"
            )

    def __call__(self, bytes word):
        return self.speak(word, simd_best())

    def _at_level(self, bytes word, str level):
        cdef simd_level found = simd_named(level.encode())
        if found == SIMD_LEVELS:
            raise ValueError(f'no kernels for "{level}" here')
        return self.speak(word, found)

    cdef object speak(self, bytes word, simd_level level):
        cdef uint16_t labels[LETTERS_LONGEST]
        cdef const uint8_t *letters = <const uint8_t *> PyBytes_AsString(word)
        cdef size_t n = len(word)
        cdef size_t i
        if not 1 <= n <= LETTERS_LONGEST:
            raise ValueError(f"word must have 1 to {LETTERS_LONGEST} letters, got {n}")
        for i in range(n):
            if letters[i] >= self.network.n_letters:
                raise ValueError(
                    f"word must have letters below {self.network.n_letters}, "
                    f"got {letters[i]}"
                )
        with nogil:
            letters_speak(&self.network, level, letters, n, labels)
        return [labels[i] for i in range(n)]
