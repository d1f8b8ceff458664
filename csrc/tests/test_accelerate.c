/* Whether Accelerate does what csrc takes it to do; on Linux, whether its double does. */
#include <Accelerate/Accelerate.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

static const double two_pi = 6.283185307179586;

typedef struct {
    size_t n;
    double *even, *odd, *re, *im;
} transform;

static transform transform_of(size_t n, double sample(size_t j, size_t n)) {
    double *values = malloc(2 * n * sizeof *values);
    CHECK(values);
    transform made = {n, values, values + n / 2, values + n, values + n + n / 2};
    for (size_t j = 0; j < n / 2; j++) {
        made.even[j] = sample(2 * j, n);
        made.odd[j] = sample(2 * j + 1, n);
    }
    vDSP_DFT_SetupD setup = vDSP_DFT_zrop_CreateSetupD(NULL, n, vDSP_DFT_FORWARD);
    CHECK(setup);
    vDSP_DFT_ExecuteD(setup, made.even, made.odd, made.re, made.im);
    vDSP_DFT_DestroySetupD(setup);
    return made;
}

static bool near(double got, double expected, size_t n) {
    return fabs(got - expected) <= 1e-13 * (double)n;
}

static double constant(size_t j, size_t n) {
    (void)j, (void)n;
    return 1.0;
}

static double alternating(size_t j, size_t n) {
    (void)n;
    return j % 2 == 0 ? 1.0 : -1.0;
}

static double cosine3(size_t j, size_t n) {
    return cos(two_pi * (double)(3 * j % n) / (double)n);
}

static double sine3(size_t j, size_t n) {
    return sin(two_pi * (double)(3 * j % n) / (double)n);
}

static double pulse_at_1(size_t j, size_t n) {
    (void)n;
    return j == 1 ? 1.0 : 0.0;
}

/* All of the spectrum is in one number, at `index` of re or of im. */
static void check_line(size_t n, double sample(size_t, size_t), bool in_im, size_t index,
                       double expected) {
    transform t = transform_of(n, sample);
    for (size_t k = 0; k < n / 2; k++) {
        CHECK(near(t.re[k], !in_im && k == index ? expected : 0.0, n));
        CHECK(near(t.im[k], in_im && k == index ? expected : 0.0, n));
    }
    free(t.even);
}

static void check_spectra(size_t n) {
    check_line(n, constant, false, 0, 2.0 * (double)n);
    check_line(n, alternating, true, 0, 2.0 * (double)n);
    check_line(n, cosine3, false, 3, (double)n);
    check_line(n, sine3, true, 3, -(double)n);
    transform t = transform_of(n, pulse_at_1);
    CHECK(near(t.re[0], 2.0, n) && near(t.im[0], -2.0, n));
    for (size_t k = 1; k < n / 2; k++) {
        const double angle = two_pi * (double)k / (double)n;
        CHECK(near(t.re[k], 2.0 * cos(angle), n) && near(t.im[k], -2.0 * sin(angle), n));
    }
    free(t.even);
}

static void check_sizes(void) {
    static const size_t sizes[] = {16, 48, 80, 240, 256, 1024, 1920};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_spectra(sizes[i]);
    }
    vDSP_DFT_DestroySetupD(NULL);
}

static void check_addition(void) {
    float values[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f};
    const float addend = 0.5f;
    vDSP_vsadd(values, 2, &addend, values, 2, 2);
    const float expected[] = {1.5f, 2.0f, 3.5f, 4.0f, 5.0f};
    CHECK(memcmp(values, expected, sizeof values) == 0);
}

static double ulps(float got, double expected) {
    const float nearest = (float)expected;
    return fabs(got - expected) / fabs((double)nextafterf(nearest, INFINITY) - nearest);
}

/* Over powers of 1.001 from the least normal number on, in place and sparing what comes after. */
static double worst_ulps(void function(float *, const float *, const int *),
                         double exact(double)) {
    enum { N = 1001 };
    double worst = 0.0;
    float x[N], y[N];
    for (double next = 0x1p-126; next < 0x1p125;) {
        for (int i = 0; i < N; i++, next *= 1.001) {
            x[i] = y[i] = (float)next;
        }
        const int count = N - 1;
        function(y, y, &count);
        CHECK(y[N - 1] == x[N - 1]);
        for (int i = 0; i < count; i++) {
            worst = fmax(worst, ulps(y[i], exact((double)x[i])));
        }
    }
    return worst;
}

static void check_functions(void) {
    const double of_roots = worst_ulps(vvsqrtf, sqrt);
    const double of_logs = worst_ulps(vvlogf, log);
    printf("worst error of vvsqrtf %.3f ulp, of vvlogf %.3f ulp\n", of_roots, of_logs);
    CHECK(of_roots <= 1.0 && of_logs <= 2.0);

    const float special[] = {0.0f, 1.0f, INFINITY, NAN};
    const int count = 4;
    float roots[4], logs[4];
    vvsqrtf(roots, special, &count);
    vvlogf(logs, special, &count);
    CHECK(roots[0] == 0.0f && roots[1] == 1.0f && isinf(roots[2]) && isnan(roots[3]));
    CHECK(logs[0] == -INFINITY && logs[1] == 0.0f && logs[2] == INFINITY && isnan(logs[3]));
}

int main(void) {
    check_sizes();
    check_addition();
    check_functions();
    return 0;
}
