/* The anchor-Euler step, compiled once for each simd_level. */
#include "lanes.h"
#include "solver.h"

static void step_row(float *restrict x, const float *restrict v, size_t n, float t, float t_next) {
    const float to_one = 1.0f - t;
    const float noise_share = 1.0f - t_next;
    for (size_t i = 0; i < n; i++) {
        const float x1 = x[i] + to_one * v[i];
        const float x0 = x[i] - t * v[i];
        x[i] = noise_share * x0 + t_next * x1;
    }
}

static void last_row(float *restrict x, const float *restrict v, size_t n, float t) {
    const float to_one = 1.0f - t;
    for (size_t i = 0; i < n; i++) {
        x[i] += to_one * v[i];
    }
}

void LEVEL_NAME(anchor_euler_step)(float *x, const float *v, size_t frames, size_t n_mels,
                                   size_t v_pitch, float t, float t_next, bool last) {
    for (size_t frame = 0; frame < frames; frame++) {
        if (last) {
            last_row(x + frame * n_mels, v + frame * v_pitch, n_mels, t);
        } else {
            step_row(x + frame * n_mels, v + frame * v_pitch, n_mels, t, t_next);
        }
    }
}
