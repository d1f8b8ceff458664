#include <math.h>
#include <string.h>

#include "check.h"
#include "solver.h"

enum { FRAMES = 5, N_MELS = 13, PITCH = 16 };

static float *filled(size_t n, float phase) {
    float *values = malloc(n * sizeof *values);
    CHECK(values);
    for (size_t i = 0; i < n; i++) {
        values[i] = sinf((float)i + phase);
    }
    return values;
}

static void check_step(simd_level level, size_t pitch, bool last) {
    const double t = 0.142857, t_next = 0.333333;
    float *x = filled(FRAMES * N_MELS, 0.0f);
    float *before = filled(FRAMES * N_MELS, 0.0f);
    float *v = filled((FRAMES - 1) * pitch + N_MELS, 1.0f);
    anchor_euler_step(level, x, v, FRAMES, N_MELS, pitch, (float)t, (float)t_next, last);
    for (size_t frame = 0; frame < FRAMES; frame++) {
        for (size_t m = 0; m < N_MELS; m++) {
            const double old = before[frame * N_MELS + m], speed = v[frame * pitch + m];
            const double x1 = old + (1.0 - t) * speed, x0 = old - t * speed;
            const double expected = last ? x1 : (1.0 - t_next) * x0 + t_next * x1;
            CHECK(fabs(x[frame * N_MELS + m] - expected) < 1e-6);
        }
    }
    free(v);
    free(before);
    free(x);
}

static void check_levels_agree(void) {
    float *reference = filled(FRAMES * N_MELS, 0.0f);
    float *v = filled((FRAMES - 1) * PITCH + N_MELS, 1.0f);
    anchor_euler_step(SIMD_BASE, reference, v, FRAMES, N_MELS, PITCH, 0.1f, 0.7f, false);
    for (simd_level level = SIMD_BASE; level < SIMD_LEVELS; level++) {
        if (simd_has(level)) {
            float *x = filled(FRAMES * N_MELS, 0.0f);
            anchor_euler_step(level, x, v, FRAMES, N_MELS, PITCH, 0.1f, 0.7f, false);
            CHECK(memcmp(x, reference, FRAMES * N_MELS * sizeof *x) == 0);
            free(x);
        }
    }
    free(v);
    free(reference);
}

int main(void) {
    for (simd_level level = SIMD_BASE; level < SIMD_LEVELS; level++) {
        if (simd_has(level)) {
            check_step(level, PITCH, false);
            check_step(level, PITCH, true);
            check_step(level, N_MELS, false);
            check_step(level, N_MELS, true);
        }
    }
    check_levels_agree();
    anchor_euler_step(SIMD_BASE, NULL, NULL, 0, N_MELS, PITCH, 0.0f, 1.0f, false);
    return 0;
}
