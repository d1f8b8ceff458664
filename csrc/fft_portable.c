#include <math.h>
#include <stdlib.h>

#include "fft_plan.h"

static const double two_pi = 6.283185307179586;

const char *fft_kernels(void) {
    return "portable";
}

static double *put_root(double *to, size_t k, size_t n) {
    const double angle = -two_pi * (double)(k % n) / (double)n;
    *to++ = cos(angle);
    *to++ = sin(angle);
    return to;
}

static size_t next_radix(size_t length) {
    static const size_t radices[] = {4, 3, 5};
    for (size_t i = 0; i < sizeof radices / sizeof *radices; i++) {
        if (length % radices[i] == 0) {
            return radices[i];
        }
    }
    return 2;
}

static double *plan_level(fft_level *level, size_t n, double *to) {
    level->n = n;
    level->roots = to;
    for (size_t k = 0; k < n / 4; k++) {
        to = put_root(to, k, n);
    }
    level->n_passes = 0;
    for (size_t length = n / 4; length > 1;) {
        fft_pass *pass = &level->passes[level->n_passes++];
        pass->radix = next_radix(length);
        pass->roots = to;
        for (size_t row = 0; row < length / pass->radix; row++) {
            for (size_t k = 1; k < pass->radix; k++) {
                to = put_root(to, row * k, length);
            }
        }
        length /= pass->radix;
    }
    return to;
}

static void fill_plan(fft_plan *plan, size_t n) {
    double *to = plan->storage;
    plan->n = n;
    plan->n_levels = 0;
    for (; n % 4 == 0; n /= 2) {
        to = plan_level(&plan->levels[plan->n_levels++], n, to);
    }
    plan->rest = n;
    plan->rest_roots = to;
    for (size_t k = 0; k <= n / 2; k++) {
        for (size_t j = 0; j < n / 2; j++) {
            to = put_root(to, j * k, n);
        }
    }
}

status fft_plan_create(size_t n, fft_plan **plan) {
    if (!fft_supports(n)) {
        return STATUS_BAD_ARGUMENT;
    }
    /* A level of n reals has n / 4 roots of its own and fewer than n / 2 in its passes, all
     * complex; the levels together twice as many as the first; the rest at most 16 * 15. */
    const size_t doubles = 3 * n + 2 * 16 * 15;
    fft_plan *made = malloc(sizeof *made + doubles * sizeof(double));
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    fill_plan(made, n);
    *plan = made;
    return STATUS_OK;
}

void fft_plan_destroy(fft_plan *plan) {
    free(plan);
}

/* The sums of a level, its complex points, and as many to transform them to. */
size_t fft_scratch_size(const fft_plan *plan, simd_level level) {
    return (plan->n / 2 + plan->n / 2 + plan->n / 2) * simd_lanes(level) * sizeof(double);
}

void fft_power(const fft_plan *plan, simd_level level, const float *const *frames,
               const double *window, void *scratch, float *power) {
    fft_power_function *function = fft_power_base;
#if defined(__x86_64__)
    function = level >= SIMD_AVX2 ? fft_power_avx2 : function;
#else
    (void)level;
#endif
    function(plan, frames, window, scratch, power);
}
