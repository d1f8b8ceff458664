/* Inside of the portable FFT: what the plan holds, and the passes compiled for each simd_level.
 *
 * The spectrum of n reals is taken apart by level. The sums x[i] + x[i + n/2] are n/2 reals whose
 * spectrum is the even bins: the next level. The differences d[m] = x[m] - x[m + n/2] give the odd
 * bins: (d[m] - i d[m + n/4]) exp(-2 pi i m/n) are n/4 complex points, and point k of their
 * spectrum is bin 4k + 1 (beyond n/2, the conjugate of bin n - 4k - 1). */
#ifndef TWINVOX_FFT_PLAN_H
#define TWINVOX_FFT_PLAN_H

#include "fft.h"

enum { FFT_MAX_LEVELS = 24, FFT_MAX_PASSES = 16 };

typedef struct {
    size_t radix;
    const double *roots; /* exp(-2 pi i row k / length), [length / radix][radix - 1] complex */
} fft_pass;

/* One level's complex transform of n / 4 points. */
typedef struct {
    size_t n;
    const double *roots; /* exp(-2 pi i k / n), [n / 4] complex */
    size_t n_passes;
    fft_pass passes[FFT_MAX_PASSES];
} fft_level;

struct fft_plan {
    size_t n;
    size_t n_levels;
    fft_level levels[FFT_MAX_LEVELS];
    size_t rest;              /* reals left below the last level: 2, 6, 10 or 30 */
    const double *rest_roots; /* exp(-2 pi i j k / rest), [rest / 2 + 1][rest / 2] complex */
    double storage[];
};

typedef void fft_power_function(const fft_plan *plan, const float *const *frames,
                                const double *window, void *scratch, float *power);

fft_power_function fft_power_base;
fft_power_function fft_power_avx2;

#endif
