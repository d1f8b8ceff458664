/* What csrc calls of Apple's Accelerate, declared as Apple documents it, for builds without the
 * real header: over the double beside this folder, and the cross build. */
#ifndef FAKE_ACCELERATE_H
#define FAKE_ACCELERATE_H

typedef unsigned long vDSP_Length;
typedef long vDSP_Stride; /* in elements */

/* Real to complex: N samples, the even ones in Ir and the odd ones in Ii, to twice their spectrum,
 * H[k] = Or[k] + i Oi[k] for 0 < k < N / 2, with H[0] in Or[0] and H[N / 2] in Oi[0]. Or may be Ir
 * together with Oi Ii. N = 2^n, or f * 2^n with f in 3, 5, 15 and n >= 4; else, or without memory,
 * the setup is NULL. */
typedef struct vDSP_DFT_SetupStructD *vDSP_DFT_SetupD;
typedef enum { vDSP_DFT_FORWARD = 1 } vDSP_DFT_Direction;

vDSP_DFT_SetupD vDSP_DFT_zrop_CreateSetupD(vDSP_DFT_SetupD previous, vDSP_Length N,
                                           vDSP_DFT_Direction direction);
void vDSP_DFT_ExecuteD(const struct vDSP_DFT_SetupStructD *setup, const double *Ir,
                       const double *Ii, double *Or, double *Oi);
void vDSP_DFT_DestroySetupD(vDSP_DFT_SetupD setup);

/* C = A + *B, and y = sqrt(x), ln(x) of *n elements; each in place too. */
void vDSP_vsadd(const float *A, vDSP_Stride IA, const float *B, float *C, vDSP_Stride IC,
                vDSP_Length N);
void vvsqrtf(float *y, const float *x, const int *n);
void vvlogf(float *y, const float *x, const int *n);

#endif
