#include "letters.h"

#include <float.h>
#include <string.h>

enum {
    EMBEDDED = 2 * LETTERS_CONTEXT + 1,
    AFFINE_SIZE = 2 * LETTERS_CHANNELS * sizeof(float),
    LAYER_SIZE = AFFINE_SIZE + LETTERS_CHANNELS * LETTERS_WINDOW,
    LABEL_SIZE = 2 * sizeof(float) + sizeof(uint64_t) + LETTERS_CHANNELS,
    MOST_LAYERS = 64,
};

static letters_affine affine_at(const uint8_t *at, size_t n) {
    return (letters_affine){(const float *)at, (const float *)at + n};
}

static size_t embeddings_size(size_t n_letters) {
    return EMBEDDED * (n_letters + 2) * LETTERS_CHANNELS;
}

static status check_marks(const letters_network *network) {
    uint64_t unstressed = 0;
    for (size_t label = 0; label < network->n_labels; label++) {
        const uint64_t marks = network->output.marks[label];
        unstressed |= marks >> LETTERS_PRIMARY ? 0 : marks;
    }
    const uint64_t all = (UINT64_C(1) << network->n_letters) - 1;
    return (unstressed & all) == all ? STATUS_OK : STATUS_BAD_ARGUMENT;
}

status letters_open(letters_network *network, const void *weights, size_t size, size_t n_layers,
                    size_t n_letters, size_t n_labels) {
    if ((uintptr_t)weights % sizeof(uint64_t) != 0 || n_layers > MOST_LAYERS || n_letters == 0 ||
        n_letters > LETTERS_MOST || n_labels == 0 || n_labels > UINT16_MAX ||
        size != AFFINE_SIZE + embeddings_size(n_letters) + n_layers * LAYER_SIZE +
                    n_labels * LABEL_SIZE) {
        return STATUS_BAD_ARGUMENT;
    }
    const uint8_t *at = weights;
    network->n_layers = n_layers;
    network->n_letters = n_letters;
    network->n_labels = n_labels;
    network->embedding = affine_at(at, LETTERS_CHANNELS);
    network->embeddings = (const int8_t *)at + AFFINE_SIZE;
    network->layers = at + AFFINE_SIZE + embeddings_size(n_letters);
    at = network->layers + n_layers * LAYER_SIZE;
    network->output.affine = affine_at(at, n_labels);
    at += 2 * n_labels * sizeof(float);
    network->output.marks = (const uint64_t *)at;
    network->output.weights = (const int8_t *)at + n_labels * sizeof(uint64_t);
    return check_marks(network);
}

/* state [n + 2][channels] of a word, from the letters around each. */
static void embed(const letters_network *network, const uint8_t *word, size_t n, int16_t *state) {
    uint8_t symbols[LETTERS_LONGEST + 2 * LETTERS_CONTEXT] = {0};
    for (size_t i = 0; i < n; i++) {
        symbols[LETTERS_CONTEXT + i] = (uint8_t)(word[i] + 1);
    }
    const size_t n_symbols = network->n_letters + 2;
    symbols[LETTERS_CONTEXT - 1] = symbols[LETTERS_CONTEXT + n] = (uint8_t)(n_symbols - 1);
    for (size_t at = 0; at < n; at++) {
        int16_t *row = state + (at + 1) * LETTERS_CHANNELS;
        int32_t sums[LETTERS_CHANNELS] = {0};
        for (size_t tap = 0; tap < EMBEDDED; tap++) {
            const size_t line = tap * n_symbols + symbols[at + tap];
            const int8_t *vector = network->embeddings + line * LETTERS_CHANNELS;
            for (size_t i = 0; i < LETTERS_CHANNELS; i++) {
                sums[i] += vector[i];
            }
        }
        for (size_t i = 0; i < LETTERS_CHANNELS; i++) {
            row[i] = letters_rectified((float)sums[i] * network->embedding.scale[i] +
                                       network->embedding.bias[i]);
        }
    }
}

/* A letter's best label with a primary stress, if it has any, and its best one without. */
typedef struct {
    uint16_t primary, other;
    float gain; /* of the primary over the other */
} choice;

static choice choose(const letters_output *output, size_t n_labels, uint8_t letter,
                     const int16_t *row) {
    choice best = {0};
    float primary = -FLT_MAX, other = -FLT_MAX;
    for (size_t label = 0; label < n_labels; label++) {
        const uint64_t marks = output->marks[label];
        if ((marks >> letter & 1) == 0) {
            continue;
        }
        const int8_t *weights = output->weights + label * LETTERS_CHANNELS;
        int32_t sum = 0;
        for (size_t i = 0; i < LETTERS_CHANNELS; i++) {
            sum += (int32_t)weights[i] * row[i];
        }
        const float score = (float)sum * output->affine.scale[label] + output->affine.bias[label];
        if (marks >> LETTERS_PRIMARY) {
            if (score > primary) {
                primary = score;
                best.primary = (uint16_t)label;
            }
        } else if (score > other) {
            other = score;
            best.other = (uint16_t)label;
        }
    }
    if (primary == -FLT_MAX) {
        best.primary = best.other;
    }
    best.gain = primary - other;
    return best;
}

/* The letter with the greatest gain is stressed, others only where they are all but certain. */
static void stress(const choice *choices, size_t n, uint16_t *labels) {
    size_t top = 0;
    for (size_t i = 1; i < n; i++) {
        top = choices[i].gain > choices[top].gain ? i : top;
    }
    for (size_t i = 0; i < n; i++) {
        const bool stressed = i == top || choices[i].gain > LETTERS_CERTAIN;
        labels[i] = stressed ? choices[i].primary : choices[i].other;
    }
}

void letters_speak(const letters_network *network, simd_level level, const uint8_t *word, size_t n,
                   uint16_t *labels) {
    letters_layer_function *run = letters_layer_base;
#if defined(__x86_64__)
    run = level == SIMD_AVX2 ? letters_layer_avx2 : run;
    run = level == SIMD_AVX512 ? letters_layer_avx512 : run;
#else
    (void)level;
#endif
    int16_t states[2][(LETTERS_LONGEST + 1 + LETTERS_BLOCK) * LETTERS_CHANNELS];
    for (size_t i = 0; i < 2; i++) {
        memset(states[i], 0, LETTERS_CHANNELS * sizeof *states[i]);
        memset(states[i] + (n + 1) * LETTERS_CHANNELS, 0,
               LETTERS_BLOCK * LETTERS_CHANNELS * sizeof *states[i]);
    }
    embed(network, word, n, states[0]);
    for (size_t i = 0; i < network->n_layers; i++) {
        const uint8_t *at = network->layers + i * LAYER_SIZE;
        const letters_layer layer = {affine_at(at, LETTERS_CHANNELS),
                                     (const int8_t *)at + AFFINE_SIZE};
        run(&layer, n, states[i % 2], states[(i + 1) % 2]);
    }
    choice choices[LETTERS_LONGEST];
    const int16_t *state = states[network->n_layers % 2];
    for (size_t i = 0; i < n; i++) {
        choices[i] = choose(&network->output, network->n_labels, word[i],
                            state + (i + 1) * LETTERS_CHANNELS);
    }
    stress(choices, n, labels);
}
