/* Power spectra of several real frames at once, in double precision: in single precision the
 * rounding of loud bins buries bins 100 dB below them.
 *
 * Two files implement this header, fft_portable.c (mixed-radix Stockham, the frames side by side in
 * vector lanes) and, on Apple platforms, fft_vdsp.c (Accelerate, frame by frame); CMake chooses. */
#ifndef TWINVOX_FFT_H
#define TWINVOX_FFT_H

#include <stdbool.h>
#include <stddef.h>

#include "simd.h"
#include "status.h"

typedef struct fft_plan fft_plan;

/* "portable" or "vDSP". */
const char *fft_kernels(void);

/* Whether n is f * 2^k with f in 1, 3, 5, 15 and 4 <= k <= 20. */
static inline bool fft_supports(size_t n) {
    int twos = 0;
    for (; n > 0 && n % 2 == 0; n /= 2) {
        twos++;
    }
    return twos >= 4 && twos <= 20 && (n == 1 || n == 3 || n == 5 || n == 15);
}

/* STATUS_BAD_ARGUMENT where fft_supports does not have n samples. A plan is read-only and may serve
 * any number of threads. */
status fft_plan_create(size_t n, fft_plan **plan);
void fft_plan_destroy(fft_plan *plan);

/* Bytes of scratch that fft_power needs. */
size_t fft_scratch_size(const fft_plan *plan, simd_level level);

/* power [n / 2 + 1][simd_lanes(level)] = re^2 + im^2 of the spectra of as many frames of n samples
 * under one window [n]. scratch and power are aligned to 64 bytes. */
void fft_power(const fft_plan *plan, simd_level level, const float *const *frames,
               const double *window, void *scratch, float *power);

#endif
