"""Which kernels are built in, and the instruction sets that they can use here."""

cdef extern from "simd.h" nogil:
    ctypedef enum level_t "simd_level":
        SIMD_LEVELS
    bint simd_has(level_t level)
    level_t simd_best()
    const char *simd_name(level_t level)

cdef extern from "fft.h" nogil:
    const char *fft_kernels()


def spectrum_kernels():
    return fft_kernels().decode()


def simd_level():
    return simd_name(simd_best()).decode()


def simd_levels():
    return tuple(
        simd_name(<level_t> level).decode()
        for level in range(SIMD_LEVELS) if simd_has(<level_t> level)
    )
