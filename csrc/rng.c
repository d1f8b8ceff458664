#include "rng.h"

#include <math.h>

#include "natural_log.h"

enum { BLOCK = 128 };

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static const uint64_t golden = 0x9e3779b97f4a7c15u;

void rng_seed(rng_state *state, uint64_t seed) {
    for (int i = 0; i < 4; i++) {
        state->s[i] = mix(seed += golden);
    }
}

uint64_t rng_derive_seed(uint64_t seed, uint64_t index) {
    return mix(mix(seed + golden) + (index + 1) * golden);
}

static inline uint64_t rotate_left(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t next(rng_state *state) {
    uint64_t *s = state->s;
    const uint64_t draw = rotate_left(s[0] + s[3], 23) + s[0];
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return draw;
}

void rng_uniform(rng_state *state, size_t n, float *out) {
    for (size_t i = 0; i < n; i++) {
        out[i] = (float)(int32_t)(next(state) >> 40) * 0x1p-24f;
    }
}

/* BLOCK pairs of normals: cosines in even places of out, sines in odd ones. */
static void box_muller(const int32_t *restrict radius_bits, const int32_t *restrict angle_bits,
                       float *restrict out) {
    for (size_t i = 0; i < BLOCK; i++) {
        /* u in (0, 1] from 31 bits, so that |normal| reaches 6.6 */
        const float u = ((float)radius_bits[i] + 0.5f) * 0x1p-31f;
        const float radius = sqrtf(-2.0f * natural_log(u));

        /* 24 bits of a turn: the nearest quarter, and f quarters from it, f in [-1/2, 1/2) */
        const int32_t quarter = (angle_bits[i] + (1 << 21)) >> 22;
        const float f = (float)(angle_bits[i] - quarter * (1 << 22)) * 0x1p-22f;
        const float z = f * f;
        float sine = -0.00460217707f;
        sine = sine * z + 0.0796802267f;
        sine = sine * z - 0.64596349f;
        sine = (sine * z + 1.57079637f) * f;
        float cosine = 0.000903631677f;
        cosine = cosine * z - 0.0208600722f;
        cosine = cosine * z + 0.253669202f;
        cosine = cosine * z - 1.23370051f;
        cosine = cosine * z + 1.0f;

        const float across = quarter & 1 ? sine : cosine;
        const float up = quarter & 1 ? cosine : sine;
        out[2 * i] = radius * ((quarter + 1) & 2 ? -across : across);
        out[2 * i + 1] = radius * (quarter & 2 ? -up : up);
    }
}

void rng_gaussian(rng_state *state, size_t n, float *out) {
    int32_t radius_bits[BLOCK];
    int32_t angle_bits[BLOCK];
    float normals[2 * BLOCK];
    for (size_t done = 0; done < n; done += 2 * BLOCK) {
        const size_t wanted = n - done < 2 * BLOCK ? n - done : 2 * BLOCK;
        const size_t pairs = (wanted + 1) / 2;
        memset(radius_bits, 0, sizeof radius_bits);
        memset(angle_bits, 0, sizeof angle_bits);
        for (size_t i = 0; i < pairs; i++) {
            const uint64_t draw = next(state);
            radius_bits[i] = (int32_t)(draw >> 33);
            angle_bits[i] = (int32_t)((uint32_t)draw >> 8);
        }
        box_muller(radius_bits, angle_bits, normals);
        memcpy(out + done, normals, wanted * sizeof *out);
    }
}
