#include <immintrin.h>

#include "half.h"

enum { LANES = 8 };

void half_to_float32_f16c(const uint16_t *src, size_t n, float *out) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const __m128i halves = _mm_loadu_si128((const __m128i *)(src + i));
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
    }
    half_to_float32_portable(src + i, n - i, out + i);
}

void half_from_float32_f16c(const float *src, size_t n, uint16_t *out) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const __m256 floats = _mm256_loadu_ps(src + i);
        _mm_storeu_si128((__m128i *)(out + i),
                         _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT));
    }
    half_from_float32_portable(src + i, n - i, out + i);
}
