/* A double of Accelerate: slow, by definition right. */
#include "fake_accelerate.h"

#include <Accelerate/Accelerate.h>
#include <math.h>
#include <stdlib.h>

bool fake_accelerate_has_memory = true;

typedef struct {
    double re, im;
} root;

struct vDSP_DFT_SetupStructD {
    vDSP_Length n;
    root roots[]; /* exp(-2 pi i k / n), [n] */
};

static bool has_size(vDSP_Length n) {
    int twos = 0;
    for (; n > 0 && n % 2 == 0; n /= 2) {
        twos++;
    }
    return n == 1 ? twos >= 1 : twos >= 4 && (n == 3 || n == 5 || n == 15);
}

vDSP_DFT_SetupD vDSP_DFT_zrop_CreateSetupD(vDSP_DFT_SetupD previous, vDSP_Length N,
                                           vDSP_DFT_Direction direction) {
    (void)previous;
    if (!has_size(N) || direction != vDSP_DFT_FORWARD || !fake_accelerate_has_memory) {
        return NULL;
    }
    const vDSP_DFT_SetupD setup = malloc(sizeof *setup + N * sizeof(root));
    if (setup == NULL) {
        return NULL;
    }
    setup->n = N;
    for (vDSP_Length k = 0; k < N; k++) {
        const double angle = 6.283185307179586 * (double)k / (double)N;
        setup->roots[k] = (root){cos(angle), -sin(angle)};
    }
    return setup;
}

void vDSP_DFT_DestroySetupD(vDSP_DFT_SetupD setup) {
    free(setup);
}

/* H[k] = 2 sum of h[j] exp(-2 pi i j k / n) */
static root bin(const struct vDSP_DFT_SetupStructD *setup, const double *h, vDSP_Length k) {
    root sum = {0.0, 0.0};
    vDSP_Length turn = 0; /* j k mod n */
    for (vDSP_Length j = 0; j < setup->n; j++) {
        sum.re += h[j] * setup->roots[turn].re;
        sum.im += h[j] * setup->roots[turn].im;
        turn += turn + k < setup->n ? k : k - setup->n;
    }
    return (root){2.0 * sum.re, 2.0 * sum.im};
}

void vDSP_DFT_ExecuteD(const struct vDSP_DFT_SetupStructD *setup, const double *Ir,
                       const double *Ii, double *Or, double *Oi) {
    const vDSP_Length n = setup->n;
    double *h = calloc(n, sizeof *h);
    if (h == NULL) {
        abort();
    }
    for (vDSP_Length j = 0; j < n / 2; j++) {
        h[2 * j] = Ir[j];
        h[2 * j + 1] = Ii[j];
    }
    Or[0] = bin(setup, h, 0).re;
    Oi[0] = bin(setup, h, n / 2).re;
    for (vDSP_Length k = 1; k < n / 2; k++) {
        const root value = bin(setup, h, k);
        Or[k] = value.re;
        Oi[k] = value.im;
    }
    free(h);
}

void vDSP_vsadd(const float *A, vDSP_Stride IA, const float *B, float *C, vDSP_Stride IC,
                vDSP_Length N) {
    const float addend = *B;
    for (vDSP_Length i = 0; i < N; i++) {
        C[(vDSP_Stride)i * IC] = A[(vDSP_Stride)i * IA] + addend;
    }
}

void vvsqrtf(float *y, const float *x, const int *n) {
    for (int i = 0; i < *n; i++) {
        y[i] = sqrtf(x[i]);
    }
}

void vvlogf(float *y, const float *x, const int *n) {
    for (int i = 0; i < *n; i++) {
        y[i] = logf(x[i]);
    }
}
