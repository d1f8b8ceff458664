/* Inside of ras: scans over logits, compiled for each simd_level. */
#ifndef TWINVOX_RAS_SCAN_H
#define TWINVOX_RAS_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* NaN where there is one, -infinity of none. */
typedef float ras_highest_function(const float *logits, size_t n);

/* The highest that is below `limit`, -infinity where there is none. */
typedef float ras_highest_below_function(const float *logits, size_t n, float limit);

/* The sum of exp(logit - peak), for logits up to peak, each a multiple of 2^-30 rounded down. */
typedef uint64_t ras_weigh_function(const float *logits, size_t n, float peak);

ras_highest_function ras_highest_base;
ras_highest_function ras_highest_avx2;
ras_highest_below_function ras_highest_below_base;
ras_highest_below_function ras_highest_below_avx2;
ras_weigh_function ras_weigh_base;
ras_weigh_function ras_weigh_avx2;

#endif
