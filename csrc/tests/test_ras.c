#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ras.h"
#include "ras_scan.h"

static const ras_params usual = {
    .top_p = 0.8, .top_k = 25, .win_size = 10, .tau_r = 0.1, .first_stop_id = 6561};

/* Of exactly n floats, so that the sanitizer sees a read beyond them. */
static float *normals(size_t n, uint64_t seed, float scale) {
    float *logits = malloc(n * sizeof *logits);
    rng_state rng;
    rng_seed(&rng, seed);
    rng_gaussian(&rng, n, logits);
    for (size_t i = 0; i < n; i++) {
        logits[i] *= scale;
    }
    return logits;
}

static void check_weights(void) {
    double worst = 0.0;
    for (float x = -20.75f; x <= 0.0f; x += 0.0001f) {
        const double exact = ldexp(exp((double)x), 30);
        const double error = fabs((double)ras_weigh_base(&x, 1, 0.0f) - exact);
        CHECK(error <= 1.0 + 1.2e-7 * exact);
        worst = fmax(worst, exact > 0x1p28 ? error / exact : 0.0);
    }
    printf("worst relative error %.3g\n", worst);
    const float none[] = {-21.0f, -1e30f, -INFINITY};
    CHECK(ras_weigh_base(none, 3, 0.0f) == 0);
    CHECK(ras_weigh_base(none, 1, -21.0f) == 1u << 30);
}

static void check_scans(void) {
    for (size_t n = 0; n < 80; n++) {
        float *logits = normals(n, n, 4.0f);
        float highest = -INFINITY, below = -INFINITY;
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++) {
            highest = fmaxf(highest, logits[i]);
            below = logits[i] < 0.5f ? fmaxf(below, logits[i]) : below;
            sum += ras_weigh_base(logits + i, 1, 20.0f);
        }
        CHECK(ras_highest_base(logits, n) == highest);
        CHECK(ras_highest_below_base(logits, n, 0.5f) == below);
        CHECK(ras_weigh_base(logits, n, 20.0f) == sum);
#if defined(__x86_64__)
        if (simd_has(SIMD_AVX2)) {
            CHECK(ras_highest_avx2(logits, n) == highest);
            CHECK(ras_highest_below_avx2(logits, n, 0.5f) == below);
            CHECK(ras_weigh_avx2(logits, n, 20.0f) == sum);
        }
#endif
        for (size_t i = 0; i < n; i++) {
            const float kept = logits[i];
            logits[i] = i % 2 == 0 ? NAN : -NAN;
            CHECK(isnan(ras_highest_base(logits, n)));
            logits[i] = kept;
        }
        free(logits);
    }
}

static int32_t first_id(const ras_params *params, const float *logits, size_t n, uint64_t seed) {
    ras_state state;
    int32_t id = -1;
    ras_start(&state, seed);
    CHECK(ras_sample(params, simd_best(), logits, n, &state, &id) == STATUS_OK);
    CHECK(state.count == 1 && state.window[0] == id && id >= 0 && (size_t)id < n);
    return id;
}

static void check_levels(void) {
    for (size_t n = 1; n < 6000; n += n / 7 + 1) {
        float *logits = normals(n, n, 2.0f);
        ras_state states[SIMD_LEVELS];
        for (simd_level level = SIMD_BASE; level < SIMD_LEVELS; level++) {
            ras_start(&states[level], n);
        }
        for (int i = 0; i < 50; i++) {
            int32_t ids[SIMD_LEVELS] = {0};
            for (simd_level level = SIMD_BASE; level < SIMD_LEVELS; level++) {
                const simd_level had = simd_has(level) ? level : SIMD_BASE;
                CHECK(ras_sample(&usual, had, logits, n, &states[level], &ids[level]) == STATUS_OK);
                CHECK(ids[level] == ids[SIMD_BASE] && (size_t)ids[level] < n);
            }
        }
        free(logits);
    }
}

static void check_order_and_ties(void) {
    float equal[300];
    for (size_t i = 0; i < 300; i++) {
        equal[i] = i % 2 == 0 ? 0.0f : -0.0f;
    }
    ras_params params = usual;
    params.tau_r = 2.0;
    params.top_k = 3;
    bool seen[3] = {false};
    for (uint64_t seed = 0; seed < 100; seed++) {
        const int32_t id = first_id(&params, equal, 300, seed);
        CHECK(id < 3);
        seen[id] = true;
    }
    CHECK(seen[0] && seen[1] && seen[2]);
    params.top_k = 1;
    equal[299] = equal[17] = 1.0f;
    CHECK(first_id(&params, equal, 300, 1) == 17);
    params.top_k = 25;
    params.top_p = 1e-9;
    CHECK(first_id(&params, equal, 300, 1) == 17);
}

static void check_redraw(void) {
    float logits[70];
    ras_state state;
    int32_t id;
    for (size_t i = 0; i < 70; i++) {
        logits[i] = i == 40 ? 90.0f : i < 2 ? 0.0f : -INFINITY;
    }
    for (uint64_t seed = 0; seed < 50; seed++) {
        ras_start(&state, seed);
        CHECK(ras_sample(&usual, simd_best(), logits, 70, &state, &id) == STATUS_OK && id == 40);
        /* all but 40 weighs nothing beside it, and is drawn all the same */
        CHECK(ras_sample(&usual, simd_best(), logits, 70, &state, &id) == STATUS_OK && id < 2);
        for (int32_t other = 0; other < 10; other++) {
            ras_record(&usual, &state, 60 + other);
        }
        CHECK(ras_sample(&usual, simd_best(), logits, 70, &state, &id) == STATUS_OK && id == 40);
    }
    logits[0] = logits[1] = -INFINITY; /* there is no other */
    CHECK(ras_sample(&usual, simd_best(), logits, 70, &state, &id) == STATUS_OK && id == 40);
}

/* A share that ends an id's weight belongs to the next one, a nucleus that reaches top_p is full. */
static void check_boundaries(void) {
    const rng_state half_first = {{0, 0, 0, 1ull << 40}};
    const rng_state half_second = {{1ull << 59, 0, 0, 1ull << 59}};
    const float equal[] = {0.0f, 0.0f, 0.0f, 0.0f};
    float certain[100]; /* 50, or else 0 or 99 */
    ras_params params = usual;
    ras_state state;
    int32_t id;
    for (size_t i = 0; i < 100; i++) {
        certain[i] = i == 50 ? 90.0f : i == 0 || i == 99 ? 0.0f : -INFINITY;
    }
    ras_start(&state, 0);
    params.top_p = 0.5;
    state.rng = half_first;
    CHECK(ras_sample(&params, simd_best(), equal, 4, &state, &id) == STATUS_OK && id == 1);
    CHECK(ras_sample(&params, simd_best(), certain, 100, &state, &id) == STATUS_OK && id == 50);
    state.rng = half_second;
    CHECK(ras_sample(&params, simd_best(), certain, 100, &state, &id) == STATUS_OK && id == 99);
    for (uint64_t seed = 0; seed < 50; seed++) {
        CHECK(first_id(&params, equal, 4, seed) < 2);
    }
    params.top_k = 1; /* nothing was sampled yet, not even 0 */
    CHECK(first_id(&params, equal, 4, 0) == 0);
}

static void check_stop_ids(void) {
    float logits[200];
    ras_params params = usual;
    ras_state state;
    params.min_tokens = 3;
    params.first_stop_id = 150;
    for (size_t i = 0; i < 200; i++) {
        logits[i] = i < 150 ? 0.0f : 50.0f;
    }
    ras_start(&state, 5);
    for (int i = 0; i < 10; i++) {
        int32_t id;
        CHECK(ras_sample(&params, simd_best(), logits, 200, &state, &id) == STATUS_OK);
        CHECK((id < 150) == (i < 3));
    }
    CHECK(first_id(&params, logits, 150, 1) < 150);
}

static void check_bad_logits(void) {
    static const float bad[] = {NAN, -NAN, INFINITY};
    for (size_t n = 1; n < 400; n += 57) {
        for (size_t i = 0; i < 3 * n; i++) {
            float *logits = normals(n, 3, 1.0f);
            ras_state state, before;
            int32_t id = -1;
            logits[i % n] = bad[i / n];
            ras_start(&state, 1);
            before = state;
            CHECK(ras_sample(&usual, simd_best(), logits, n, &state, &id) == STATUS_BAD_ARGUMENT);
            CHECK(id == -1 && memcmp(&state, &before, sizeof state) == 0);
            for (size_t j = 0; j < n; j++) {
                logits[j] = -INFINITY;
            }
            CHECK(ras_sample(&usual, simd_best(), logits, n, &state, &id) == STATUS_BAD_ARGUMENT);
            CHECK(ras_sample(&usual, simd_best(), logits, 0, &state, &id) == STATUS_BAD_ARGUMENT);
            free(logits);
        }
    }
}

static void check_params(void) {
    static const double nan = NAN;
    CHECK(ras_check(&usual) == STATUS_OK);
    const ras_params bad[] = {
        {0.0, 25, 10, 0.1, 0, 1},  {1.01, 25, 10, 0.1, 0, 1},  {nan, 25, 10, 0.1, 0, 1},
        {0.8, 0, 10, 0.1, 0, 1},   {0.8, 257, 10, 0.1, 0, 1}, {0.8, 25, 0, 0.1, 0, 1},
        {0.8, 25, 257, 0.1, 0, 1}, {0.8, 25, 10, -0.1, 0, 1}, {0.8, 25, 10, nan, 0, 1},
        {0.8, 25, 10, 0.1, 0, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(ras_check(&bad[i]) == STATUS_BAD_ARGUMENT);
    }
}

int main(void) {
    check_weights();
    check_scans();
    check_levels();
    check_order_and_ties();
    check_redraw();
    check_boundaries();
    check_stop_ids();
    check_bad_logits();
    check_params();
    return 0;
}
