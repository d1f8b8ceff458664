/* IEEE binary16 <-> binary32: round to nearest even, subnormals kept, NaN stays (quiet) NaN. */
#ifndef TWINVOX_HALF_H
#define TWINVOX_HALF_H

#include <stddef.h>
#include <stdint.h>

void half_to_float32(const uint16_t *src, size_t n, float *out);
void half_from_float32(const float *src, size_t n, uint16_t *out);

/* What the two above choose between; the results are the same bits. */
void half_to_float32_portable(const uint16_t *src, size_t n, float *out);
void half_from_float32_portable(const float *src, size_t n, uint16_t *out);
#if defined(__x86_64__)
void half_to_float32_f16c(const uint16_t *src, size_t n, float *out);
void half_from_float32_f16c(const float *src, size_t n, uint16_t *out);
#endif

#endif
