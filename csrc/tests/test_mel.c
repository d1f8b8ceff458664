#include <limits.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "mel.h"

static const mel_params vocos = {.sample_rate = 24000.0,
                                 .n_fft = 1024,
                                 .hop_length = 256,
                                 .n_mels = 100,
                                 .pad = 512,
                                 .scale = MEL_HTK,
                                 .log_floor = 1e-7f};
static const mel_params cosyvoice = {.sample_rate = 24000.0,
                                     .n_fft = 1920,
                                     .hop_length = 480,
                                     .n_mels = 80,
                                     .pad = 720,
                                     .scale = MEL_SLANEY,
                                     .magnitude_epsilon = 1e-9f,
                                     .log_floor = 1e-5f};

static mel_plan *plan_of(mel_params params) {
    mel_plan *plan = NULL;
    CHECK(mel_plan_create(&params, &plan) == STATUS_OK);
    return plan;
}

/* Exact heap blocks, so that AddressSanitizer sees every overrun. */
static float *copy_of(const float *values, size_t n) {
    float *copy = malloc(n * sizeof *copy);
    CHECK(copy);
    memcpy(copy, values, n * sizeof *copy);
    return copy;
}

static float *log_mel(const mel_plan *plan, simd_level level, const float *samples, size_t n,
                      size_t n_mels) {
    float *signal = copy_of(samples, n);
    char *scratch = malloc(mel_scratch_size(plan, level) + 1);
    float *out = malloc(mel_frames(plan, n) * n_mels * sizeof *out);
    CHECK(scratch && out);
    mel_compute(plan, level, signal, n, scratch + 1, out); /* of no particular alignment */
    free(scratch);
    free(signal);
    return out;
}

static float *tone(size_t n, double hz) {
    float *samples = malloc(n * sizeof *samples);
    CHECK(samples);
    for (size_t i = 0; i < n; i++) {
        samples[i] = (float)sin(6.283185307179586 * hz * (double)i / 24000.0);
    }
    return samples;
}

static void check_frame_counts(void) {
    mel_plan *plan = plan_of(vocos);
    CHECK(mel_min_samples(plan) == 513);
    CHECK(mel_frames(plan, 0) == 0 && mel_frames(plan, 512) == 0);
    for (size_t n = 513; n < 3000; n++) {
        CHECK(mel_frames(plan, n) == (n + 128) / 256);
    }
    CHECK(mel_frames(plan, 103936) == 406);
    mel_plan_destroy(plan);
    plan = plan_of(cosyvoice);
    CHECK(mel_min_samples(plan) == 721);
    CHECK(mel_frames(plan, 720) == 0);
    for (size_t n = 721; n < 6000; n++) {
        CHECK(mel_frames(plan, n) == n / 480);
    }
    mel_plan_destroy(plan);
}

static double hz_of_corner(const mel_params *params, size_t corner) {
    const double share = (double)corner / (double)(params->n_mels + 1);
    if (params->scale == MEL_HTK) {
        return 700.0 * (pow(1.0 + params->sample_rate / 2.0 / 700.0, share) - 1.0);
    }
    const double top = 15.0 + 27.0 * log(params->sample_rate / 2.0 / 1000.0) / log(6.4);
    const double mel = top * share;
    return mel < 15.0 ? mel * 200.0 / 3.0 : 1000.0 * pow(6.4, (mel - 15.0) / 27.0);
}

/* Magnitudes [n_fft / 2 + 1] of a frame by definition. */
static double *magnitudes_of(const mel_params *params, const float *samples, size_t n_samples,
                             size_t frame) {
    const size_t n = params->n_fft;
    double *magnitudes = malloc((n / 2 + 1) * sizeof *magnitudes);
    double *windowed = malloc(n * sizeof *windowed);
    CHECK(magnitudes && windowed);
    const double turn = 6.283185307179586 / (double)n;
    for (size_t i = 0; i < n; i++) {
        const long at = labs((long)(frame * params->hop_length + i) - (long)params->pad);
        const long end = (long)n_samples - 1;
        windowed[i] = samples[at <= end ? at : 2 * end - at] * (0.5 - 0.5 * cos(turn * (double)i));
    }
    for (size_t bin = 0; bin <= n / 2; bin++) {
        double re = 0.0, im = 0.0;
        for (size_t i = 0; i < n; i++) {
            re += windowed[i] * cos(turn * (double)(i * bin % n));
            im += windowed[i] * sin(turn * (double)(i * bin % n));
        }
        magnitudes[bin] = sqrt(re * re + im * im + params->magnitude_epsilon);
    }
    free(windowed);
    return magnitudes;
}

static double log_of_band(const mel_params *params, const double *magnitudes, size_t m) {
    const double left = hz_of_corner(params, m);
    const double centre = hz_of_corner(params, m + 1);
    const double right = hz_of_corner(params, m + 2);
    const double height = params->scale == MEL_SLANEY ? 2.0 / (right - left) : 1.0;
    double sum = 0.0;
    for (size_t bin = 0; bin <= params->n_fft / 2; bin++) {
        const double hz = (double)bin * params->sample_rate / (double)params->n_fft;
        const double weight = fmin((hz - left) / (centre - left), (right - hz) / (right - centre));
        sum += height * fmax(weight, 0.0) * magnitudes[bin];
    }
    return log(fmax(sum, params->log_floor));
}

/* A tone that leaves the other bands to magnitude_epsilon, then silence for the floor. */
static void check_against_definition(mel_params params) {
    enum { N = 9001 };
    mel_plan *plan = plan_of(params);
    float *samples = tone(N, 3210.0);
    memset(samples + N * 2 / 3, 0, (N - N * 2 / 3) * sizeof *samples);
    const size_t n_frames = mel_frames(plan, N);
    float *mel = log_mel(plan, simd_best(), samples, N, params.n_mels);
    const size_t frames[] = {0, n_frames / 2, n_frames - 1};
    for (size_t i = 0; i < 3; i++) {
        double *magnitudes = magnitudes_of(&params, samples, N, frames[i]);
        for (size_t m = 0; m < params.n_mels; m++) {
            const double expected = log_of_band(&params, magnitudes, m);
            CHECK(fabs(mel[frames[i] * params.n_mels + m] - expected) <= 2e-6);
        }
        free(magnitudes);
    }
    free(mel);
    free(samples);
    mel_plan_destroy(plan);
}

static void check_levels_agree(mel_params params) {
    mel_plan *plan = plan_of(params);
    float *samples = tone(9001, 321.0);
    for (size_t n = mel_min_samples(plan); n < 9001; n += 731) {
        const size_t bytes = mel_frames(plan, n) * params.n_mels * sizeof(float);
        float *reference = log_mel(plan, SIMD_BASE, samples, n, params.n_mels);
        for (simd_level level = SIMD_BASE; level < SIMD_LEVELS; level++) {
            if (simd_has(level)) {
                float *mel = log_mel(plan, level, samples, n, params.n_mels);
                CHECK(memcmp(mel, reference, bytes) == 0);
                free(mel);
            }
        }
        free(reference);
    }
    free(samples);
    mel_plan_destroy(plan);
}

static void check_tone_lands_in_its_band(void) {
    mel_plan *plan = plan_of(vocos);
    float *samples = tone(24000, 1000.0);
    float *mel = log_mel(plan, simd_best(), samples, 24000, 100);
    const float *frame = mel + 40 * 100;
    size_t loudest = 0;
    for (size_t m = 1; m < 100; m++) {
        loudest = frame[m] > frame[loudest] ? m : loudest;
    }
    const double mels_per_band = 2595.0 * log10(1.0 + 12000.0 / 700.0) / 101.0;
    const double expected = 2595.0 * log10(1.0 + 1000.0 / 700.0) / mels_per_band - 1.0;
    CHECK(fabs((double)loudest - expected) <= 1.0);
    free(mel);
    free(samples);
    mel_plan_destroy(plan);
}

static void check_silence_and_spoilt_samples(void) {
    mel_plan *plan = plan_of(vocos);
    float samples[4096] = {0};
    float *mel = log_mel(plan, simd_best(), samples, 4096, 100);
    for (size_t i = 0; i < 16 * 100; i++) {
        CHECK(fabsf(mel[i] - logf(1e-7f)) < 2e-6f);
    }
    free(mel);
    samples[0] = NAN;
    mel = log_mel(plan, simd_best(), samples, 4096, 100);
    CHECK(isnan(mel[50]) && isfinite(mel[15 * 100 + 50]));
    free(mel);
    mel_plan_destroy(plan);
}

static void check_refused(void) {
    mel_plan *plan = NULL;
    mel_params params = vocos;
    params.n_fft = 1000;
    CHECK(mel_plan_create(&params, &plan) == STATUS_BAD_ARGUMENT);
    params = vocos;
    params.log_floor = 0.0f;
    CHECK(mel_plan_create(&params, &plan) == STATUS_BAD_ARGUMENT);
    params = vocos;
    params.hop_length = 0;
    CHECK(mel_plan_create(&params, &plan) == STATUS_BAD_ARGUMENT);
    params = vocos;
    params.n_mels = INT_MAX;
    CHECK(mel_plan_create(&params, &plan) == STATUS_BAD_ARGUMENT);
    params = vocos;
    params.magnitude_epsilon = -1.0f;
    CHECK(mel_plan_create(&params, &plan) == STATUS_BAD_ARGUMENT);
    CHECK(plan == NULL);
}

int main(void) {
    check_frame_counts();
    check_against_definition(vocos);
    check_against_definition(cosyvoice);
    check_levels_agree(vocos);
    check_levels_agree(cosyvoice);
    check_tone_lands_in_its_band();
    check_silence_and_spoilt_samples();
    check_refused();
    return 0;
}
