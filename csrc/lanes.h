/* Vectors for kernels that are compiled once for each simd_level: LEVEL is its name and LANES, 2
 * or 4, the doubles in a register. Lane j belongs to frame j; every operation is IEEE and lane by
 * lane, so all levels give the same bits. */
#ifndef TWINVOX_LANES_H
#define TWINVOX_LANES_H

#include <stddef.h>
#include <string.h>

#define LANES_JOIN(name, level) name##_##level
#define LANES_EXPAND(name, level) LANES_JOIN(name, level)
#define LEVEL_NAME(name) LANES_EXPAND(name, LEVEL)

#define INLINE static inline __attribute__((always_inline))

typedef float float_lanes __attribute__((vector_size(4 * LANES)));
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef float quad __attribute__((vector_size(16)));
typedef int quad_mask __attribute__((vector_size(16)));

#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (quad_mask){__VA_ARGS__})
#endif

INLINE void transpose(quad v[4]) {
    const quad ab_low = SHUFFLE(v[0], v[1], 0, 4, 1, 5);
    const quad ab_high = SHUFFLE(v[0], v[1], 2, 6, 3, 7);
    const quad cd_low = SHUFFLE(v[2], v[3], 0, 4, 1, 5);
    const quad cd_high = SHUFFLE(v[2], v[3], 2, 6, 3, 7);
    v[0] = SHUFFLE(ab_low, cd_low, 0, 1, 4, 5);
    v[1] = SHUFFLE(ab_low, cd_low, 2, 3, 6, 7);
    v[2] = SHUFFLE(ab_high, cd_high, 0, 1, 4, 5);
    v[3] = SHUFFLE(ab_high, cd_high, 2, 3, 6, 7);
}

/* Columns at .. at + 3 of LANES rows, each column a vector. */
#if LANES == 2
INLINE void load_columns(const float *const *rows, size_t at, lanes columns[4]) {
    for (size_t column = 0; column < 4; column++) {
        columns[column] = (lanes){rows[0][at + column], rows[1][at + column]};
    }
}
#else
INLINE void load_columns(const float *const *rows, size_t at, lanes columns[4]) {
    quad v[4];
    for (size_t row = 0; row < 4; row++) {
        memcpy(&v[row], rows[row] + at, sizeof v[row]);
    }
    transpose(v);
    for (size_t column = 0; column < 4; column++) {
        columns[column] = __builtin_convertvector(v[column], lanes);
    }
}
#endif

#endif
