#include <math.h>
#include <string.h>

#include "check.h"
#include "fft.h"

static const double two_pi = 6.283185307179586;

/* Uniform in [-1, 1). */
static float noise(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(int)*state / 2147483648.0f;
}

static double naive_power(const float *frame, const double *window, size_t n, size_t bin) {
    double re = 0.0, im = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double angle = two_pi * (double)(i * bin % n) / (double)n;
        re += frame[i] * window[i] * cos(angle);
        im -= frame[i] * window[i] * sin(angle);
    }
    return re * re + im * im;
}

static void check_size(size_t n, simd_level level) {
    const size_t lanes = simd_lanes(level);
    const size_t bins = n / 2 + 1;
    fft_plan *plan = NULL;
    CHECK(fft_plan_create(n, &plan) == STATUS_OK);
    const size_t scratch_size = (fft_scratch_size(plan, level) + 63) / 64 * 64;
    const size_t power_size = (bins * lanes * sizeof(float) + 63) / 64 * 64;
    void *scratch = aligned_alloc(64, scratch_size);
    float *power = aligned_alloc(64, power_size);
    float *samples = malloc(lanes * n * sizeof *samples);
    double *window = malloc(n * sizeof *window);
    CHECK(scratch && power && samples && window);

    unsigned state = (unsigned)n;
    const float *frames[SIMD_MAX_LANES];
    for (size_t lane = 0; lane < lanes; lane++) {
        frames[lane] = samples + lane * n;
        for (size_t i = 0; i < n; i++) {
            samples[lane * n + i] = noise(&state);
        }
    }
    for (size_t i = 0; i < n; i++) {
        window[i] = 0.5 - 0.5 * cos(two_pi * (double)i / (double)n);
    }
    fft_power(plan, level, frames, window, scratch, power);
    const size_t bin_step = n > 256 ? 7 : 1;
    for (size_t lane = 0; lane < lanes; lane++) {
        for (size_t bin = 0; bin < bins; bin += bin_step) {
            const double expected = naive_power(frames[lane], window, n, bin);
            CHECK(fabs(power[bin * lanes + lane] - expected) <= 1e-7 * (expected + 1e-3));
        }
    }
    free(window);
    free(samples);
    free(power);
    free(scratch);
    fft_plan_destroy(plan);
}

static void check_supported_sizes(simd_level level) {
    static const size_t sizes[] = {16,  32,  48,  64,  80,  96,   128,  160,  192,
                                   240, 256, 320, 384, 480, 1024, 1920, 2048, 3840};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_size(sizes[i], level);
    }
}

static void check_refused_sizes(void) {
    static const size_t sizes[] = {0, 1, 2, 8, 15, 24, 100, 400, 720, 1023, 1025, (size_t)1 << 21};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fft_plan *plan = NULL;
        CHECK(fft_plan_create(sizes[i], &plan) == STATUS_BAD_ARGUMENT);
        CHECK(plan == NULL);
    }
}

int main(void) {
    for (simd_level level = SIMD_BASE; level < SIMD_LEVELS; level++) {
        if (simd_has(level)) {
            check_supported_sizes(level);
        }
    }
    check_refused_sizes();
    return 0;
}
