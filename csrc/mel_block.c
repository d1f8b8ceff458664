/* From power spectra to log-mel rows, compiled once for each simd_level. */
#include "lanes.h"
#include "mel_plan.h"

static void apply_filters(const mel_plan *plan, const float_lanes *magnitude, float_lanes *mel) {
    for (size_t m = 0; m < plan->params.n_mels; m++) {
        const mel_filter filter = plan->filters[m];
        const float_lanes *bins = magnitude + filter.first;
        float_lanes sum = {0};
#pragma GCC unroll 4
        for (size_t i = 0; i < filter.count; i++) {
            sum += bins[i] * filter.weights[i];
        }
        mel[m] = sum;
    }
}

static void store_rows(const float *mel, size_t n_mels, size_t n_frames, float *out) {
    for (size_t frame = 0; frame < n_frames; frame++) {
        for (size_t m = 0; m < n_mels; m++) {
            *out++ = mel[m * LANES + frame];
        }
    }
}

void LEVEL_NAME(mel_block)(const mel_plan *plan, float *power, float *mel, size_t n_frames,
                           float *out) {
    const mel_params *params = &plan->params;
    LEVEL_NAME(mel_magnitudes)(params->magnitude_epsilon, (params->n_fft / 2 + 1) * LANES, power);
    apply_filters(plan, (const float_lanes *)power, (float_lanes *)mel);
    LEVEL_NAME(mel_logs)(params->log_floor, params->n_mels * LANES, mel);
    store_rows(mel, params->n_mels, n_frames, out);
}
