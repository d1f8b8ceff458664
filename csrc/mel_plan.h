/* Inside of mel: what the plan holds, and the block kernel compiled for each simd_level. */
#ifndef TWINVOX_MEL_PLAN_H
#define TWINVOX_MEL_PLAN_H

#include "fft.h"
#include "mel.h"

/* One triangle: its weights on `count` bins from `first` on. */
typedef struct {
    size_t first;
    size_t count;
    const float *weights;
} mel_filter;

struct mel_plan {
    mel_params params;
    fft_plan *fft;
    double *window; /* periodic Hann [n_fft] */
    mel_filter *filters;
    float *weights;
};

/* Power spectra of a block of frames to their log-mel rows, of which the first n_frames are
 * written. power [n_fft / 2 + 1][lanes] and mel [n_mels][lanes] are scratch afterwards. */
typedef void mel_block_function(const mel_plan *plan, float *power, float *mel, size_t n_frames,
                                float *out);

mel_block_function mel_block_base;
mel_block_function mel_block_avx2;

/* In place, by mel_elementwise.c or, on Apple platforms, mel_vforce.c: sqrt(power + epsilon), and
 * ln(max(value, floor)), infinity and NaN passed through. n is within int. */
void mel_magnitudes_base(float epsilon, size_t n, float *power);
void mel_magnitudes_avx2(float epsilon, size_t n, float *power);
void mel_logs_base(float floor, size_t n, float *values);
void mel_logs_avx2(float floor, size_t n, float *values);

#endif
