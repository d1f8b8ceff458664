/* Seeded random numbers, equal on every platform: xoshiro256++ seeded by splitmix64, normals by
 * Box-Muller with polynomials of our own (IEEE add, multiply and square root only). */
#ifndef TWINVOX_RNG_H
#define TWINVOX_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t s[4];
} rng_state;

void rng_seed(rng_state *state, uint64_t seed);

/* A seed for item `index` of the work that `seed` names. */
uint64_t rng_derive_seed(uint64_t seed, uint64_t index);

/* n floats in [0, 1), multiples of 2^-24, one draw each. */
void rng_uniform(rng_state *state, size_t n, float *out);

/* n standard normals, one draw for each pair; of an odd n the last normal is dropped. */
void rng_gaussian(rng_state *state, size_t n, float *out);

#endif
