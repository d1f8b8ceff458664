/* Scans over logits, compiled once for each simd_level. */
#include "ras_scan.h"

#include <math.h>

#include "lanes.h"

enum { WIDTH = 2 * LANES };

typedef float floats __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ints __attribute__((vector_size(4 * WIDTH)));
typedef uint64_t longs __attribute__((vector_size(4 * WIDTH)));

/* The same in every lane. */
#define ALL(value) ((floats){0} + (value))

INLINE floats load(const float *logits) {
    floats loaded;
    memcpy(&loaded, logits, sizeof loaded);
    return loaded;
}

/* n < WIDTH logits, then -infinity, which changes no result. */
INLINE floats load_rest(const float *logits, size_t n) {
    floats loaded = ALL(-INFINITY);
    memcpy(&loaded, logits, n * sizeof *logits);
    return loaded;
}

INLINE floats pick(ints mask, floats yes, floats no) {
    return (floats)(((ints)yes & mask) | ((ints)no & ~mask));
}

INLINE float highest_of(floats logits) {
    float highest = logits[0];
    for (size_t lane = 1; lane < WIDTH; lane++) {
        highest = logits[lane] > highest ? logits[lane] : highest;
    }
    return highest;
}

float LEVEL_NAME(ras_highest)(const float *logits, size_t n) {
    floats highest = ALL(-INFINITY);
    ints nan = {0};
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        const floats loaded = load(logits + i);
        highest = pick(loaded > highest, loaded, highest);
        nan |= loaded != loaded;
    }
    if (i < n) {
        const floats loaded = load_rest(logits + i, n - i);
        highest = pick(loaded > highest, loaded, highest);
        nan |= loaded != loaded;
    }
    int32_t any = 0;
    for (size_t lane = 0; lane < WIDTH; lane++) {
        any |= nan[lane];
    }
    return any ? NAN : highest_of(highest);
}

INLINE floats higher_below(float limit, floats logits, floats highest) {
    return pick((logits < limit) & (logits > highest), logits, highest);
}

float LEVEL_NAME(ras_highest_below)(const float *logits, size_t n, float limit) {
    floats highest = ALL(-INFINITY);
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        highest = higher_below(limit, load(logits + i), highest);
    }
    if (i < n) {
        highest = higher_below(limit, load_rest(logits + i, n - i), highest);
    }
    return highest_of(highest);
}

/* 2^30 exp(x), x in [-80, 0], within 1 ulp. */
INLINE floats scaled_exp(floats x) {
    /* x = exponent * ln 2 + f with |f| <= ln(2) / 2 */
    const float log2_e = 1.44269504f;
    const float ln2_high = 0.693359375f;
    const float ln2_low = -2.12194440e-4f;
    const ints exponent = __builtin_convertvector(x * log2_e - 0.5f, ints);
    const floats e = __builtin_convertvector(exponent, floats);
    const floats f = (x - e * ln2_high) - e * ln2_low;

    /* (exp(f) - 1 - f) / f^2, minimax of degree 4, relative error of the whole 4e-9 */
    floats p = f * 0.0013814529f + 0.0083687445f;
    p = p * f + 0.041668393f;
    p = p * f + 0.16666521f;
    p = p * f + 0.49999994f;

    const floats power = (floats)((exponent + (127 + 30)) << 23);
    return ((p * (f * f) + f) + 1.0f) * power;
}

INLINE longs weigh(floats logits, float peak) {
    const floats faintest = ALL(-21.0f); /* it weighs nothing */
    const floats below = logits - peak;
    const floats x = pick(below > faintest, below, faintest);
    const longs pairs = (longs)__builtin_convertvector(scaled_exp(x), ints);
    return (pairs & UINT32_MAX) + (pairs >> 32);
}

uint64_t LEVEL_NAME(ras_weigh)(const float *logits, size_t n, float peak) {
    longs sums = {0};
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        sums += weigh(load(logits + i), peak);
    }
    if (i < n) {
        sums += weigh(load_rest(logits + i, n - i), peak);
    }
    uint64_t sum = 0;
    for (size_t lane = 0; lane < LANES; lane++) {
        sum += sums[lane];
    }
    return sum;
}
