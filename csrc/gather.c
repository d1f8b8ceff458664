#include "gather.h"

#include <string.h>

#include "half.h"

size_t gather_first_bad(const int32_t *ids, size_t n, size_t n_rows) {
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0 || (size_t)ids[i] >= n_rows) {
            return i;
        }
    }
    return n;
}

void gather_float32(const float *table, size_t channels, const int32_t *ids, size_t n, float *out) {
    for (size_t i = 0; i < n; i++) {
        memcpy(out + i * channels, table + (size_t)ids[i] * channels, channels * sizeof *out);
    }
}

void gather_float16(const uint16_t *table, size_t channels, const int32_t *ids, size_t n,
                    float *out) {
    for (size_t i = 0; i < n; i++) {
        half_to_float32(table + (size_t)ids[i] * channels, channels, out + i * channels);
    }
}
