/* Natural-log mel spectrograms of short-time magnitude spectra. */
#ifndef TWINVOX_MEL_H
#define TWINVOX_MEL_H

#include <stddef.h>

#include "simd.h"
#include "status.h"

typedef enum {
    MEL_HTK,    /* 2595 log10(1 + f / 700), triangles of height 1 */
    MEL_SLANEY, /* linear to 1 kHz, then logarithmic; triangles of equal area */
} mel_scale;

typedef struct {
    double sample_rate;
    size_t n_fft; /* as fft_plan_create takes it */
    size_t hop_length;
    size_t n_mels; /* triangles over 0 .. sample_rate / 2 */
    size_t pad;    /* samples reflected at either end */
    mel_scale scale;
    float magnitude_epsilon; /* magnitude = sqrt(re^2 + im^2 + magnitude_epsilon) */
    float log_floor;         /* ln(max(mel, log_floor)) */
} mel_params;

typedef struct mel_plan mel_plan;

/* STATUS_BAD_ARGUMENT for a zero count, an n_fft that fft_plan_create refuses, or a log_floor that
 * is not a positive normal number. A plan is read-only and may serve any number of threads. */
status mel_plan_create(const mel_params *params, mel_plan **plan);
void mel_plan_destroy(mel_plan *plan);

/* The fewest samples that give a frame and can be reflected. */
size_t mel_min_samples(const mel_plan *plan);

/* As many frames as fit in the padded signal, but at most n_samples / hop_length to the nearest;
 * 0 below mel_min_samples. */
size_t mel_frames(const mel_plan *plan, size_t n_samples);

/* Bytes of scratch that mel_compute needs. */
size_t mel_scratch_size(const mel_plan *plan, simd_level level);

/* out [mel_frames, n_mels]; the same bits at every level. A NaN or infinite sample makes the frames
 * that see it NaN or infinite. */
void mel_compute(const mel_plan *plan, simd_level level, const float *samples, size_t n_samples,
                 void *scratch, float *out);

#endif
