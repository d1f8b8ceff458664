#include "half.h"

#include <string.h>

static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void half_to_float32_portable(const uint16_t *src, size_t n, float *out) {
    const float rebias = float_of((127 + 127 - 15) << 23); /* 2^112: also normalises subnormals */
    for (size_t i = 0; i < n; i++) {
        const uint32_t magnitude = (uint32_t)(src[i] & 0x7fff) << 13;
        const uint32_t sign = (uint32_t)(src[i] & 0x8000) << 16;
        const uint32_t finite = bits_of(float_of(magnitude) * rebias);
        const uint32_t quiet = magnitude > 0x0f800000 ? 0x00400000 : 0;
        const uint32_t special = magnitude | 0x7f800000 | quiet;
        out[i] = float_of((magnitude >= 0x0f800000 ? special : finite) | sign);
    }
}

void half_from_float32_portable(const float *src, size_t n, uint16_t *out) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = bits_of(src[i]);
        const uint32_t magnitude = bits & 0x7fffffff;
        const uint32_t sign = (bits >> 16) & 0x8000;
        /* Adding 0.5 leaves a subnormal half, rounded by the adder, in the low mantissa bits. */
        const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000;
        const uint32_t odd = (magnitude >> 13) & 1;
        const uint32_t normal = (magnitude - (112u << 23) + 0xfff + odd) >> 13;
        const uint32_t nan = 0x7e00 | ((magnitude >> 13) & 0x3ff);
        uint32_t half = magnitude < 0x38800000 ? subnormal : normal;
        half = magnitude >= 0x47800000 ? 0x7c00 : half;
        half = magnitude > 0x7f800000 ? nan : half;
        out[i] = (uint16_t)(half | sign);
    }
}

#if defined(__x86_64__)
void half_to_float32(const uint16_t *src, size_t n, float *out) {
    (__builtin_cpu_supports("f16c") ? half_to_float32_f16c : half_to_float32_portable)(src, n, out);
}

void half_from_float32(const float *src, size_t n, uint16_t *out) {
    (__builtin_cpu_supports("f16c") ? half_from_float32_f16c
                                    : half_from_float32_portable)(src, n, out);
}
#else
void half_to_float32(const uint16_t *src, size_t n, float *out) {
    half_to_float32_portable(src, n, out);
}

void half_from_float32(const float *src, size_t n, uint16_t *out) {
    half_from_float32_portable(src, n, out);
}
#endif
