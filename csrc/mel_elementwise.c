/* The square roots and logarithms of mel, compiled once for each simd_level. */
#include <math.h>

#include "lanes.h"
#include "mel_plan.h"
#include "natural_log.h"

void LEVEL_NAME(mel_magnitudes)(float epsilon, size_t n, float *power) {
    for (size_t i = 0; i < n; i++) {
        power[i] = sqrtf(power[i] + epsilon);
    }
}

void LEVEL_NAME(mel_logs)(float floor, size_t n, float *values) {
    for (size_t i = 0; i < n; i++) {
        const float value = values[i];
        const float log = natural_log(value < floor ? floor : value);
        values[i] = value - value == 0.0f ? log : value;
    }
}
