/* Repetition-aware sampling: a nucleus draw, done again from the whole vocabulary where its token
 * was heard a moment ago. */
#ifndef TWINVOX_RAS_H
#define TWINVOX_RAS_H

#include <stddef.h>
#include <stdint.h>

#include "rng.h"
#include "simd.h"
#include "status.h"

enum { RAS_MAX_TOP_K = 256, RAS_MAX_WIN_SIZE = 256 };

typedef struct {
    double top_p;
    size_t top_k;
    size_t win_size;
    double tau_r;
    size_t min_tokens; /* as long as fewer were sampled, ids from first_stop_id on are not */
    size_t first_stop_id;
} ras_params;

/* What one decoding owns; copy it as you like. */
typedef struct {
    rng_state rng;
    size_t count;
    int32_t window[RAS_MAX_WIN_SIZE]; /* the last win_size ids, in turn */
} ras_state;

/* STATUS_BAD_ARGUMENT unless 0 < top_p <= 1, 1 <= top_k <= RAS_MAX_TOP_K,
 * 1 <= win_size <= RAS_MAX_WIN_SIZE, 0 <= tau_r and there is an id below first_stop_id. */
status ras_check(const ras_params *params);

void ras_start(ras_state *state, uint64_t seed);

/* Counts an id as sampled without a draw. */
void ras_record(const ras_params *params, ras_state *state, int32_t id);

/* Draws and records an id of n logits.
 *
 * The ids in order of logit, from the highest, the lower id first among equals, are taken while
 * their probability together is below top_p and their number below top_k, and one of them is drawn.
 * If it is among the last win_size ids at least win_size * tau_r times, one of all other ids is
 * drawn instead; where none has a probability, it stands. Probabilities are multiples of 2^-30 of
 * the largest, rounded down, and a draw is one rng_uniform: the same ids at every level.
 *
 * STATUS_BAD_ARGUMENT, and nothing drawn, where n is 0, a logit is NaN or +infinity, or none is
 * above -infinity. */
status ras_sample(const ras_params *params, simd_level level, const float *logits, size_t n,
                  ras_state *state, int32_t *id);

#endif
