#include "ras.h"

#include <math.h>
#include <stdbool.h>

#include "ras_scan.h"

/* So many that the best of each and the logits of one are searched in like time. */
enum { MAX_BLOCKS = 128, BLOCK_ALIGNMENT = 16 };

typedef struct {
    ras_highest_function *highest;
    ras_highest_below_function *highest_below;
    ras_weigh_function *weigh;
} scans;

static scans scans_at(simd_level level) {
#if defined(__x86_64__)
    if (level >= SIMD_AVX2) {
        return (scans){ras_highest_avx2, ras_highest_below_avx2, ras_weigh_avx2};
    }
#else
    (void)level;
#endif
    return (scans){ras_highest_base, ras_highest_below_base, ras_weigh_base};
}

/* The logits in blocks, and of each block the highest that is still to be taken. */
typedef struct {
    scans scan;
    const float *logits;
    size_t n;
    size_t block_size;
    size_t n_blocks;
    float highest[MAX_BLOCKS];
    size_t search_from[MAX_BLOCKS];
} ranking;

typedef struct {
    size_t id;
    uint64_t weight;
} candidate;

status ras_check(const ras_params *params) {
    const bool good = params->top_p > 0.0 && params->top_p <= 1.0 && params->top_k >= 1 &&
                      params->top_k <= RAS_MAX_TOP_K && params->win_size >= 1 &&
                      params->win_size <= RAS_MAX_WIN_SIZE && params->tau_r >= 0.0 &&
                      params->first_stop_id > 0;
    return good ? STATUS_OK : STATUS_BAD_ARGUMENT;
}

void ras_start(ras_state *state, uint64_t seed) {
    *state = (ras_state){0};
    rng_seed(&state->rng, seed);
}

void ras_record(const ras_params *params, ras_state *state, int32_t id) {
    state->window[state->count++ % params->win_size] = id;
}

static bool is_repeated(const ras_params *params, const ras_state *state, size_t id) {
    const size_t filled = state->count < params->win_size ? state->count : params->win_size;
    size_t times = 0;
    for (size_t i = 0; i < filled; i++) {
        times += state->window[i] == (int32_t)id;
    }
    return (double)times >= (double)params->win_size * params->tau_r;
}

static size_t block_start(const ranking *ranked, size_t block) {
    return block * ranked->block_size;
}

static size_t block_end(const ranking *ranked, size_t block) {
    const size_t end = (block + 1) * ranked->block_size;
    return end < ranked->n ? end : ranked->n;
}

static status rank(ranking *ranked, scans scan, const float *logits, size_t n) {
    if (n == 0) {
        return STATUS_BAD_ARGUMENT;
    }
    const size_t least = (n + MAX_BLOCKS - 1) / MAX_BLOCKS;
    ranked->scan = scan;
    ranked->logits = logits;
    ranked->n = n;
    ranked->block_size = (least + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    ranked->n_blocks = (n + ranked->block_size - 1) / ranked->block_size;
    for (size_t block = 0; block < ranked->n_blocks; block++) {
        const size_t start = block_start(ranked, block);
        ranked->highest[block] = scan.highest(logits + start, block_end(ranked, block) - start);
        ranked->search_from[block] = start;
    }
    return isfinite(scan.highest(ranked->highest, ranked->n_blocks)) ? STATUS_OK
                                                                     : STATUS_BAD_ARGUMENT;
}

/* The highest logit that is still to be taken. */
static float next_logit(const ranking *ranked) {
    return ranked->scan.highest(ranked->highest, ranked->n_blocks);
}

/* The lowest id that has it; the ranking then holds what follows. */
static size_t take(ranking *ranked, float logit) {
    const float *logits = ranked->logits;
    size_t block = 0;
    while (ranked->highest[block] != logit) {
        block++;
    }
    const size_t start = block_start(ranked, block);
    const size_t end = block_end(ranked, block);
    size_t id = ranked->search_from[block];
    while (logits[id] != logit) {
        id++;
    }
    size_t equal = id + 1;
    while (equal < end && logits[equal] != logit) {
        equal++;
    }
    ranked->search_from[block] = equal < end ? equal : start;
    if (equal == end) {
        ranked->highest[block] = ranked->scan.highest_below(logits + start, end - start, logit);
    }
    return id;
}

static uint64_t share_of(uint64_t total, rng_state *rng) {
    float uniform;
    rng_uniform(rng, 1, &uniform);
    return (uint64_t)((double)uniform * (double)total);
}

/* Sets `other_peak` to the highest logit of all ids but the drawn one. */
static size_t draw_from_nucleus(const ras_params *params, ranking *ranked, rng_state *rng,
                                float *other_peak) {
    const float peak = next_logit(ranked);
    const uint64_t total = ranked->scan.weigh(ranked->logits, ranked->n, peak);
    const double enough = params->top_p * (double)total;
    candidate nucleus[RAS_MAX_TOP_K];
    uint64_t together = 0;
    size_t count = 0;
    float logit = peak;
    float second = peak;
    while (count < params->top_k && (double)together < enough) {
        nucleus[count].id = take(ranked, logit);
        nucleus[count].weight = ranked->scan.weigh(&logit, 1, peak);
        together += nucleus[count++].weight;
        logit = next_logit(ranked);
        second = count == 1 ? logit : second;
    }
    uint64_t share = share_of(together, rng);
    size_t drawn = 0;
    while (share >= nucleus[drawn].weight) {
        share -= nucleus[drawn++].weight;
    }
    *other_peak = drawn == 0 ? second : peak;
    return nucleus[drawn].id;
}

static uint64_t weigh_without(const ranking *ranked, size_t start, size_t end, size_t masked,
                              float peak) {
    const float *logits = ranked->logits;
    if (masked < start || masked >= end) {
        return ranked->scan.weigh(logits + start, end - start, peak);
    }
    return ranked->scan.weigh(logits + start, masked - start, peak) +
           ranked->scan.weigh(logits + masked + 1, end - masked - 1, peak);
}

static size_t draw_from_others(const ranking *ranked, size_t masked, float peak, rng_state *rng) {
    uint64_t weights[MAX_BLOCKS];
    uint64_t total = 0;
    for (size_t block = 0; block < ranked->n_blocks; block++) {
        weights[block] = weigh_without(ranked, block_start(ranked, block),
                                       block_end(ranked, block), masked, peak);
        total += weights[block];
    }
    uint64_t share = share_of(total, rng);
    size_t block = 0;
    while (share >= weights[block]) {
        share -= weights[block++];
    }
    for (size_t id = block_start(ranked, block);; id++) {
        const uint64_t weight = weigh_without(ranked, id, id + 1, masked, peak);
        if (share < weight) {
            return id;
        }
        share -= weight;
    }
}

status ras_sample(const ras_params *params, simd_level level, const float *logits, size_t n,
                  ras_state *state, int32_t *id) {
    ranking ranked;
    if (state->count < params->min_tokens && params->first_stop_id < n) {
        n = params->first_stop_id;
    }
    if (rank(&ranked, scans_at(level), logits, n) != STATUS_OK) {
        return STATUS_BAD_ARGUMENT;
    }
    float other_peak;
    size_t drawn = draw_from_nucleus(params, &ranked, &state->rng, &other_peak);
    if (is_repeated(params, state, drawn) && other_peak > -INFINITY) {
        drawn = draw_from_others(&ranked, drawn, other_peak, &state->rng);
    }
    *id = (int32_t)drawn;
    ras_record(params, state, *id);
    return STATUS_OK;
}
