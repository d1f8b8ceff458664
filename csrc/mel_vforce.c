/* The square roots and logarithms of mel by Accelerate, compiled once for each simd_level. */
#include <Accelerate/Accelerate.h>

#include "lanes.h"
#include "mel_plan.h"

void LEVEL_NAME(mel_magnitudes)(float epsilon, size_t n, float *power) {
    const int count = (int)n;
    vDSP_vsadd(power, 1, &epsilon, power, 1, n);
    vvsqrtf(power, power, &count);
}

void LEVEL_NAME(mel_logs)(float floor, size_t n, float *values) {
    const int count = (int)n;
    for (size_t i = 0; i < n; i++) { /* vDSP_vthr would turn NaN into the floor */
        values[i] = values[i] < floor ? floor : values[i];
    }
    vvlogf(values, values, &count);
}
