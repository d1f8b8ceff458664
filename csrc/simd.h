/* The instruction sets that the vector kernels are compiled for. */
#ifndef TWINVOX_SIMD_H
#define TWINVOX_SIMD_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    SIMD_BASE, /* what the compiler may assume: SSE2, NEON */
    SIMD_AVX2,
    SIMD_AVX512, /* the foundation, BW and VL; kernels without such a version run their AVX2 one */
    SIMD_LEVELS,
} simd_level;

enum { SIMD_MAX_LANES = 4 };

/* Whether this build and this processor have it; SIMD_BASE always. */
bool simd_has(simd_level level);

simd_level simd_best(void);

/* "sse2", "avx2", "avx512", "neon" or, of an unknown base, "generic". */
const char *simd_name(simd_level level);

/* The level of that name, SIMD_LEVELS where there is none or it is not to be had here. */
simd_level simd_named(const char *name);

/* Frames that the spectrum kernels of the level work on side by side. */
size_t simd_lanes(simd_level level);

#endif
