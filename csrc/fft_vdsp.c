#include <Accelerate/Accelerate.h>
#include <stdlib.h>

#include "fft.h"

struct fft_plan {
    size_t n;
    vDSP_DFT_SetupD setup; /* shares nothing with other setups, so no call needs a lock */
};

const char *fft_kernels(void) {
    return "vDSP";
}

status fft_plan_create(size_t n, fft_plan **plan) {
    if (!fft_supports(n)) {
        return STATUS_BAD_ARGUMENT;
    }
    const vDSP_DFT_SetupD setup = vDSP_DFT_zrop_CreateSetupD(NULL, n, vDSP_DFT_FORWARD);
    if (setup == NULL) { /* vDSP has every size that fft_supports */
        return STATUS_NO_MEMORY;
    }
    fft_plan *made = malloc(sizeof *made);
    if (made == NULL) {
        vDSP_DFT_DestroySetupD(setup);
        return STATUS_NO_MEMORY;
    }
    *made = (fft_plan){.n = n, .setup = setup};
    *plan = made;
    return STATUS_OK;
}

void fft_plan_destroy(fft_plan *plan) {
    if (plan != NULL) {
        vDSP_DFT_DestroySetupD(plan->setup);
        free(plan);
    }
}

/* A frame's even and odd samples, and the two halves of its spectrum. */
size_t fft_scratch_size(const fft_plan *plan, simd_level level) {
    (void)level;
    return 2 * plan->n * sizeof(double);
}

/* To widen, window and part the samples is one pass here and three in vDSP; so it is with the
 * powers below. */
static void split_frame(const float *restrict frame, const double *restrict window, size_t half,
                        double *restrict even, double *restrict odd) {
    for (size_t i = 0; i < half; i++) {
        even[i] = frame[2 * i] * window[2 * i];
        odd[i] = frame[2 * i + 1] * window[2 * i + 1];
    }
}

/* vDSP gives twice the spectrum, with bin n / 2, which is real as bin 0 is, in im[0]. */
static void store_power(const double *re, const double *im, size_t half, size_t lanes,
                        float *power) {
    const double quarter = 0.25;
    power[0] = (float)(quarter * (re[0] * re[0]));
    power[half * lanes] = (float)(quarter * (im[0] * im[0]));
    for (size_t k = 1; k < half; k++) {
        power[k * lanes] = (float)(quarter * (re[k] * re[k] + im[k] * im[k]));
    }
}

void fft_power(const fft_plan *plan, simd_level level, const float *const *frames,
               const double *window, void *scratch, float *power) {
    const size_t half = plan->n / 2;
    const size_t lanes = simd_lanes(level);
    double *even = scratch;
    double *odd = even + half;
    double *re = odd + half;
    double *im = re + half;
    for (size_t lane = 0; lane < lanes; lane++) {
        split_frame(frames[lane], window, half, even, odd);
        vDSP_DFT_ExecuteD(plan->setup, even, odd, re, im);
        store_power(re, im, half, lanes, power + lane);
    }
}
