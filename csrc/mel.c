#include "mel.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mel_plan.h"

enum { ALIGNMENT = 64 };

static const double two_pi = 6.283185307179586;

/* Slaney's scale bends at 1 kHz, which is mel 15; above it 27 mels make a factor of 6.4. */
static const double slaney_hz_per_mel = 200.0 / 3.0;
static const double slaney_bend_hz = 1000.0;
static const double slaney_bend_mel = 15.0;

static double mel_of_hz(mel_scale scale, double hz) {
    if (scale == MEL_HTK) {
        return 2595.0 * log10(1.0 + hz / 700.0);
    }
    if (hz < slaney_bend_hz) {
        return hz / slaney_hz_per_mel;
    }
    return slaney_bend_mel + log(hz / slaney_bend_hz) * 27.0 / log(6.4);
}

static double hz_of_mel(mel_scale scale, double mel) {
    if (scale == MEL_HTK) {
        return 700.0 * (pow(10.0, mel / 2595.0) - 1.0);
    }
    if (mel < slaney_bend_mel) {
        return mel * slaney_hz_per_mel;
    }
    return slaney_bend_hz * exp((mel - slaney_bend_mel) * log(6.4) / 27.0);
}

/* Corner i of the n_mels + 2 that are evenly spaced in mels. */
static double corner_hz(const mel_params *params, size_t i) {
    const double top = mel_of_hz(params->scale, params->sample_rate / 2.0);
    return hz_of_mel(params->scale, top * (double)i / (double)(params->n_mels + 1));
}

static double triangle(double hz, double left, double centre, double right) {
    const double rising = (hz - left) / (centre - left);
    const double falling = (right - hz) / (right - centre);
    return fmax(0.0, fmin(rising, falling));
}

/* Writes the non-zero weights of triangle m to `weights` and returns how many. */
static size_t fill_filter(const mel_params *params, size_t m, mel_filter *filter, float *weights) {
    const double left = corner_hz(params, m);
    const double centre = corner_hz(params, m + 1);
    const double right = corner_hz(params, m + 2);
    const double height = params->scale == MEL_SLANEY ? 2.0 / (right - left) : 1.0;
    *filter = (mel_filter){.weights = weights};
    for (size_t bin = 0; bin <= params->n_fft / 2; bin++) {
        const double hz = (double)bin * params->sample_rate / (double)params->n_fft;
        const double weight = height * triangle(hz, left, centre, right);
        if (weight > 0.0) {
            if (filter->count == 0) {
                filter->first = bin;
            }
            weights[filter->count++] = (float)weight;
        }
    }
    return filter->count;
}

static bool acceptable(const mel_params *params) {
    return params->sample_rate > 0.0 && params->hop_length > 0 && params->n_mels > 0 &&
           params->n_mels <= INT_MAX / SIMD_MAX_LANES && params->magnitude_epsilon >= 0.0f &&
           isfinite(params->magnitude_epsilon) && params->log_floor >= FLT_MIN &&
           isfinite(params->log_floor);
}

status mel_plan_create(const mel_params *params, mel_plan **plan) {
    if (!acceptable(params)) {
        return STATUS_BAD_ARGUMENT;
    }
    mel_plan *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    made->params = *params;
    const status fft_status = fft_plan_create(params->n_fft, &made->fft);
    if (fft_status != STATUS_OK) {
        mel_plan_destroy(made);
        return fft_status;
    }
    /* A bin lies under at most two of the triangles. */
    made->weights = malloc((params->n_fft + 2) * sizeof(float));
    made->window = malloc(params->n_fft * sizeof(double));
    made->filters = malloc(params->n_mels * sizeof(mel_filter));
    if (made->weights == NULL || made->window == NULL || made->filters == NULL) {
        mel_plan_destroy(made);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < params->n_fft; i++) {
        made->window[i] = 0.5 - 0.5 * cos(two_pi * (double)i / (double)params->n_fft);
    }
    float *weights = made->weights;
    for (size_t m = 0; m < params->n_mels; m++) {
        weights += fill_filter(params, m, &made->filters[m], weights);
    }
    *plan = made;
    return STATUS_OK;
}

void mel_plan_destroy(mel_plan *plan) {
    if (plan != NULL) {
        fft_plan_destroy(plan->fft);
        free(plan->weights);
        free(plan->window);
        free(plan->filters);
        free(plan);
    }
}

static size_t at_least(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t mel_min_samples(const mel_plan *plan) {
    const mel_params *params = &plan->params;
    const size_t padding = 2 * params->pad;
    const size_t to_fill = params->n_fft > padding ? params->n_fft - padding : 0;
    return at_least(at_least(params->pad + 1, to_fill), (params->hop_length + 1) / 2);
}

size_t mel_frames(const mel_plan *plan, size_t n_samples) {
    const mel_params *params = &plan->params;
    if (n_samples < mel_min_samples(plan)) {
        return 0;
    }
    const size_t fitting =
        1 + (n_samples + 2 * params->pad - params->n_fft) / params->hop_length;
    const size_t nearest = (n_samples + params->hop_length / 2) / params->hop_length;
    return fitting < nearest ? fitting : nearest;
}

static size_t aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* One after another: the scratch of fft_power, the power spectra, the mels, and for each lane a
 * frame at the ends of the signal. */
size_t mel_scratch_size(const mel_plan *plan, simd_level level) {
    const mel_params *params = &plan->params;
    const size_t row = simd_lanes(level) * sizeof(float);
    return ALIGNMENT + aligned(fft_scratch_size(plan->fft, level)) +
           aligned((params->n_fft / 2 + 1) * row) + (params->n_mels + params->n_fft) * row;
}

static void copy_reflected(const float *samples, ptrdiff_t n_samples, ptrdiff_t start, size_t n,
                           float *frame) {
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t at = start + (ptrdiff_t)i;
        at = at < 0 ? -at : at;
        frame[i] = samples[at < n_samples ? at : 2 * (n_samples - 1) - at];
    }
}

/* A frame's samples where they lie, or copied to `reflected` where the frame leaves the signal. */
static const float *frame_samples(const mel_plan *plan, size_t frame, const float *samples,
                                  size_t n_samples, float *reflected) {
    const mel_params *params = &plan->params;
    const ptrdiff_t start = (ptrdiff_t)(frame * params->hop_length) - (ptrdiff_t)params->pad;
    if (start >= 0 && (size_t)start + params->n_fft <= n_samples) {
        return samples + start;
    }
    copy_reflected(samples, (ptrdiff_t)n_samples, start, params->n_fft, reflected);
    return reflected;
}

void mel_compute(const mel_plan *plan, simd_level level, const float *samples, size_t n_samples,
                 void *scratch, float *out) {
    const mel_params *params = &plan->params;
    const size_t lanes = simd_lanes(level);
    const size_t n_frames = mel_frames(plan, n_samples);
    mel_block_function *block = mel_block_base;
#if defined(__x86_64__)
    block = level >= SIMD_AVX2 ? mel_block_avx2 : block;
#endif

    char *const fft_scratch = (char *)aligned((uintptr_t)scratch);
    char *const after_fft = fft_scratch + aligned(fft_scratch_size(plan->fft, level));
    float *const power = (float *)after_fft;
    float *const mel =
        (float *)(after_fft + aligned((params->n_fft / 2 + 1) * lanes * sizeof(float)));
    float *const reflected = mel + params->n_mels * lanes;

    for (size_t first = 0; first < n_frames; first += lanes) {
        const size_t wanted = n_frames - first < lanes ? n_frames - first : lanes;
        const float *frames[SIMD_MAX_LANES];
        for (size_t lane = 0; lane < lanes; lane++) {
            /* Lanes beyond the last frame repeat it; their results are dropped. */
            const size_t frame = first + (lane < wanted ? lane : wanted - 1);
            frames[lane] = frame_samples(plan, frame, samples, n_samples,
                                         reflected + lane * params->n_fft);
        }
        fft_power(plan->fft, level, frames, plan->window, fft_scratch, power);
        block(plan, power, mel, wanted, out + first * params->n_mels);
    }
}
