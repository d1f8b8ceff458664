/* ln(x) for positive normal floats, within 1 ulp; branch-free, so that loops over it vectorise. */
#ifndef TWINVOX_NATURAL_LOG_H
#define TWINVOX_NATURAL_LOG_H

#include <stdint.h>
#include <string.h>

static inline float natural_log(float x) {
    /* x = 2^exponent * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)) */
    const int32_t sqrt_half = 0x3f3504f3;
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int32_t exponent = (bits - sqrt_half) >> 23;
    bits -= exponent * (1 << 23);
    float mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);
    const float f = mantissa - 1.0f;

    /* (ln(1 + f) - f + f^2/2) / f^3, minimax of degree 7, relative error of the whole 6e-9 */
    float p = -0.0763449744f;
    p = p * f + 0.12761578f;
    p = p * f - 0.131601825f;
    p = p * f + 0.142017573f;
    p = p * f - 0.166233569f;
    p = p * f + 0.200012267f;
    p = p * f - 0.250008196f;
    p = p * f + 0.333333313f;

    const float ln2_high = 0.693359375f;
    const float ln2_low = -2.12194440e-4f;
    const float e = (float)exponent;
    const float square = f * f;
    const float small = (square * f) * p + e * ln2_low;
    return e * ln2_high + (f - (0.5f * square - small));
}

#endif
