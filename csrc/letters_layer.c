/* A residual layer of the letter network, compiled once for each simd_level. */
#include "lanes.h"
#include "letters.h"

/* The products of a block of windows, LETTERS_CHANNELS apart, with rows of weights; each operand
 * that is loaded serves several of them. */
INLINE void multiply(int16_t weights[restrict][LETTERS_WINDOW], const int16_t *restrict state,
                     int32_t *restrict sums) {
    int32_t totals[LETTERS_ROWS][LETTERS_BLOCK] = {0};
    for (size_t i = 0; i < LETTERS_WINDOW; i++) {
        for (size_t row = 0; row < LETTERS_ROWS; row++) {
            for (size_t at = 0; at < LETTERS_BLOCK; at++) {
                totals[row][at] += (int32_t)weights[row][i] * state[at * LETTERS_CHANNELS + i];
            }
        }
    }
    for (size_t row = 0; row < LETTERS_ROWS; row++) {
        for (size_t at = 0; at < LETTERS_BLOCK; at++) {
            sums[at * LETTERS_CHANNELS + row] = totals[row][at];
        }
    }
}

static void add(const letters_affine *affine, const int32_t *restrict sums,
                const int16_t *restrict state, int16_t *restrict next) {
    for (size_t i = 0; i < LETTERS_CHANNELS; i++) {
        const float added = (float)sums[i] * affine->scale[i] + affine->bias[i];
        next[i] = letters_rectified((float)state[i] + added);
    }
}

void LEVEL_NAME(letters_layer)(const letters_layer *layer, size_t n, const int16_t *state,
                               int16_t *next) {
    int16_t weights[LETTERS_ROWS][LETTERS_WINDOW];
    int32_t sums[(LETTERS_LONGEST + LETTERS_BLOCK) * LETTERS_CHANNELS];
    for (size_t channel = 0; channel < LETTERS_CHANNELS; channel += LETTERS_ROWS) {
        for (size_t row = 0; row < LETTERS_ROWS; row++) {
            const int8_t *packed = layer->weights + (channel + row) * LETTERS_WINDOW;
            for (size_t i = 0; i < LETTERS_WINDOW; i++) {
                weights[row][i] = packed[i];
            }
        }
        for (size_t at = 0; at < n; at += LETTERS_BLOCK) {
            const size_t first = at * LETTERS_CHANNELS;
            multiply(weights, state + first, sums + first + channel);
        }
    }
    for (size_t at = 0; at < n; at++) {
        const size_t row = (at + 1) * LETTERS_CHANNELS;
        add(&layer->affine, sums + at * LETTERS_CHANNELS, state + row, next + row);
    }
}
