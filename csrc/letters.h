/* How a word outside the lexicon sounds: a residual convolutional network over its letters.
 *
 * Each letter speaks one label, a string of phonemes with their stress, often an empty one. The
 * weights are 8-bit, the activations 16-bit and the sums exact, so that every level and processor
 * chooses the same labels. */
#ifndef TWINVOX_LETTERS_H
#define TWINVOX_LETTERS_H

#include <stddef.h>
#include <stdint.h>

#include "simd.h"
#include "status.h"

enum {
    LETTERS_CHANNELS = 128,
    LETTERS_TAPS = 3,
    LETTERS_WINDOW = LETTERS_TAPS * LETTERS_CHANNELS,
    LETTERS_CONTEXT = 3, /* letters on either side that a letter's embedding sees */
    LETTERS_MOST = 62,   /* letters of an alphabet */
    LETTERS_LONGEST = 64,
    LETTERS_ROWS = 2, /* channels and positions that a kernel works on at once */
    LETTERS_BLOCK = 4,
    LETTERS_LOUDEST = 32767, /* activation */
    LETTERS_PRIMARY = 63,    /* bit of a label's marks */
};

/* What each sum of a row of weights is multiplied by, and what is added then. */
typedef struct {
    const float *scale;
    const float *bias;
} letters_affine;

typedef struct {
    letters_affine affine;
    const int8_t *weights; /* [channels][window] */
} letters_layer;

typedef struct {
    letters_affine affine; /* [labels] */
    const uint64_t *marks; /* [labels]: bit i where letter i may speak it, or primary stress */
    const int8_t *weights; /* [labels][channels] */
} letters_output;

typedef struct {
    size_t n_layers, n_letters, n_labels;
    letters_affine embedding;
    const int8_t *embeddings; /* [2 context + 1][nothing, letters, edge of the word][channels] */
    const uint8_t *layers;
    letters_output output;
} letters_network;

/* By how much a second primary stress must be likelier than none (a difference of logits). */
#define LETTERS_CERTAIN 2.0f

/* Without a branch; NaN becomes 0. */
static inline int16_t letters_rectified(float value) {
    const float positive = value > 0.0f ? value : 0.0f;
    const float bounded = positive < LETTERS_LOUDEST ? positive : LETTERS_LOUDEST;
    return (int16_t)(int32_t)(bounded + 0.5f);
}

/* A view of weights, which lie aligned to 8 bytes in the order of the members above.
 * STATUS_BAD_ARGUMENT for weights that are not, for another size than the counts need, or where a
 * letter has no label without a primary stress. The network is read-only and may serve any number
 * of threads. */
status letters_open(letters_network *network, const void *weights, size_t size, size_t n_layers,
                    size_t n_letters, size_t n_labels);

/* The label of each of n letters (below n_letters), n at most LETTERS_LONGEST. */
void letters_speak(const letters_network *network, simd_level level, const uint8_t *word, size_t n,
                   uint16_t *labels);

/* One layer at n positions: rows 1 to n of state and next [n + 1 + block][channels], whose other
 * rows are 0 or, from n + 2 on, anything. */
typedef void letters_layer_function(const letters_layer *layer, size_t n, const int16_t *state,
                                    int16_t *next);

letters_layer_function letters_layer_base;
letters_layer_function letters_layer_avx2;
letters_layer_function letters_layer_avx512;

#endif
