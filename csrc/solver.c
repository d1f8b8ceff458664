#include "solver.h"

void anchor_euler_step(simd_level level, float *x, const float *v, size_t frames, size_t n_mels,
                       size_t v_pitch, float t, float t_next, bool last) {
    anchor_euler_function *function = anchor_euler_step_base;
#if defined(__x86_64__)
    function = level >= SIMD_AVX2 ? anchor_euler_step_avx2 : function;
#else
    (void)level;
#endif
    if (v_pitch == n_mels) { /* without gaps all is one row */
        n_mels *= frames;
        v_pitch = n_mels;
        frames = 1;
    }
    function(x, v, frames, n_mels, v_pitch, t, t_next, last);
}
