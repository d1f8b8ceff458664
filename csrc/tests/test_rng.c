#include <math.h>
#include <string.h>

#include "check.h"
#include "rng.h"

enum { N = 200001 };

static float samples[N], again[N];

static void check_moments(const float *x, double mean, double variance) {
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < N; i++) {
        sum += x[i];
        squares += (double)x[i] * x[i];
    }
    const double got_mean = sum / N;
    CHECK(fabs(got_mean - mean) < 5.0 * sqrt(variance / N));
    CHECK(fabs(squares / N - got_mean * got_mean - variance) < 0.02 * variance);
}

/* xoshiro256++ and splitmix64 as their authors publish them, seed 0. */
static void check_generator(void) {
    rng_state state;
    rng_seed(&state, 0);
    CHECK(state.s[0] == 0xe220a8397b1dcdafu && state.s[1] == 0x6e789e6aa1b965f4u);
    CHECK(state.s[2] == 0x06c45d188009454fu && state.s[3] == 0xf88bb8a8724c81ecu);
    float first;
    rng_uniform(&state, 1, &first);
    CHECK(first == (float)(0x53175d61490b23dfu >> 40) * 0x1p-24f);
}

static void check_split_calls(void) {
    rng_state one, two;
    rng_seed(&one, 7);
    rng_seed(&two, 7);
    rng_gaussian(&one, 1002, samples);
    rng_gaussian(&two, 600, again);
    rng_gaussian(&two, 402, again + 600);
    CHECK(memcmp(samples, again, 1002 * sizeof *samples) == 0);
    rng_uniform(&one, 5, samples);
    rng_uniform(&two, 2, again);
    rng_uniform(&two, 3, again + 2);
    CHECK(memcmp(samples, again, 5 * sizeof *samples) == 0);
}

int main(void) {
    rng_state state;
    check_generator();
    check_split_calls();
    rng_seed(&state, 1);
    rng_uniform(&state, N, samples);
    for (size_t i = 0; i < N; i++) {
        CHECK(samples[i] >= 0.0f && samples[i] < 1.0f);
    }
    check_moments(samples, 0.5, 1.0 / 12.0);
    rng_gaussian(&state, N, samples);
    check_moments(samples, 0.0, 1.0);
    CHECK(rng_derive_seed(42, 0) != rng_derive_seed(42, 1));
    CHECK(rng_derive_seed(42, 1) != rng_derive_seed(43, 0));
    return 0;
}
