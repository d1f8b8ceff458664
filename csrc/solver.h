/* One step of the anchor-Euler flow solver. */
#ifndef TWINVOX_SOLVER_H
#define TWINVOX_SOLVER_H

#include <stdbool.h>
#include <stddef.h>

#include "simd.h"

/* x [frames, n_mels] contiguous, moved from time t to t_next along the velocity v, whose rows lie
 * v_pitch elements apart. The last step returns the anchor at t = 1 and ignores t_next. The same
 * bits at every level. */
void anchor_euler_step(simd_level level, float *x, const float *v, size_t frames, size_t n_mels,
                       size_t v_pitch, float t, float t_next, bool last);

/* What it chooses between. */
typedef void anchor_euler_function(float *x, const float *v, size_t frames, size_t n_mels,
                                   size_t v_pitch, float t, float t_next, bool last);

anchor_euler_function anchor_euler_step_base;
anchor_euler_function anchor_euler_step_avx2;

#endif
