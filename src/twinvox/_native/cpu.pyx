"""The instruction sets that the kernels can use on this processor."""

cdef extern from "simd.h" nogil:
    ctypedef enum level_t "simd_level":
        SIMD_LEVELS
    bint simd_has(level_t level)
    level_t simd_best()
    const char *simd_name(level_t level)


def simd_level():
    return simd_name(simd_best()).decode()


def simd_levels():
    return tuple(
        simd_name(<level_t> level).decode()
        for level in range(SIMD_LEVELS) if simd_has(<level_t> level)
    )
