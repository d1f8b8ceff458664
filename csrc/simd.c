#include "simd.h"

#include <string.h>

bool simd_has(simd_level level) {
#if defined(__x86_64__)
    if (level == SIMD_AVX2) {
        return __builtin_cpu_supports("avx2");
    }
    if (level == SIMD_AVX512) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    }
#endif
    return level == SIMD_BASE;
}

simd_level simd_best(void) {
    simd_level level = SIMD_LEVELS - 1;
    while (!simd_has(level)) {
        level--;
    }
    return level;
}

const char *simd_name(simd_level level) {
    if (level == SIMD_AVX512) {
        return "avx512";
    }
    if (level == SIMD_AVX2) {
        return "avx2";
    }
#if defined(__x86_64__)
    return "sse2";
#elif defined(__aarch64__)
    return "neon";
#else
    return "generic";
#endif
}

simd_level simd_named(const char *name) {
    for (simd_level level = SIMD_BASE; level < SIMD_LEVELS; level++) {
        if (simd_has(level) && strcmp(simd_name(level), name) == 0) {
            return level;
        }
    }
    return SIMD_LEVELS;
}

size_t simd_lanes(simd_level level) {
    return level == SIMD_BASE ? 2 : 4;
}
