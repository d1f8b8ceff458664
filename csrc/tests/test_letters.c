#include <stdint.h>
#include <string.h>

#include "check.h"
#include "letters.h"

enum {
    LAYERS = 2,
    LETTERS = 26,
    LABELS = 4,
    AFFINE = 2 * LETTERS_CHANNELS * sizeof(float),
    EMBEDDINGS = (2 * LETTERS_CONTEXT + 1) * (LETTERS + 2) * LETTERS_CHANNELS,
    LAYER = AFFINE + LETTERS_CHANNELS * LETTERS_WINDOW,
    LABEL = 2 * sizeof(float) + sizeof(uint64_t) + LETTERS_CHANNELS,
    SIZE = AFFINE + EMBEDDINGS + LAYERS * LAYER + LABELS * LABEL,
};

static uint32_t state = 1;

static uint32_t next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static uint8_t *put_affine(uint8_t *at, size_t n, float scale, float bias) {
    for (size_t i = 0; i < n; i++, at += sizeof scale) {
        memcpy(at, &scale, sizeof scale);
    }
    for (size_t i = 0; i < n; i++, at += sizeof bias) {
        memcpy(at, &bias, sizeof bias);
    }
    return at;
}

static uint8_t *put_bytes(uint8_t *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        *at++ = (uint8_t)next_random();
    }
    return at;
}

/* Of exactly the needed size, so that AddressSanitizer sees every overrun. */
static uint8_t *made_weights(uint64_t lacking) {
    uint8_t *weights = malloc(SIZE);
    CHECK(weights);
    uint8_t *at = put_bytes(put_affine(weights, LETTERS_CHANNELS, 30.0f, 100.0f), EMBEDDINGS);
    for (size_t i = 0; i < LAYERS; i++) {
        at = put_affine(at, LETTERS_CHANNELS, 1e-3f, 10.0f);
        at = put_bytes(at, LETTERS_CHANNELS * LETTERS_WINDOW);
    }
    at = put_affine(at, LABELS, 1e-5f, 0.0f);
    for (uint64_t label = 0; label < LABELS; label++, at += sizeof label) {
        const uint64_t all = (UINT64_C(1) << LETTERS) - 1;
        const uint64_t marks = (all & ~lacking) | (label % 2) << LETTERS_PRIMARY;
        memcpy(at, &marks, sizeof marks);
    }
    CHECK(put_bytes(at, LABELS * LETTERS_CHANNELS) == weights + SIZE);
    return weights;
}

static void check_words(void) {
    uint8_t *weights = made_weights(0);
    letters_network network;
    CHECK(letters_open(&network, weights, SIZE, LAYERS, LETTERS, LABELS) == STATUS_OK);
    for (size_t n = 1; n <= LETTERS_LONGEST; n++) {
        uint8_t *word = malloc(n);
        uint16_t *base = malloc(n * sizeof *base), *labels = malloc(n * sizeof *labels);
        CHECK(word && base && labels);
        for (size_t i = 0; i < n; i++) {
            word[i] = (uint8_t)(next_random() % LETTERS);
        }
        letters_speak(&network, SIMD_BASE, word, n, base);
        size_t stressed = 0;
        for (size_t i = 0; i < n; i++) {
            CHECK(base[i] < LABELS);
            stressed += base[i] % 2;
        }
        CHECK(stressed > 0);
        for (simd_level level = SIMD_BASE; level < SIMD_LEVELS; level++) {
            if (simd_has(level)) {
                letters_speak(&network, level, word, n, labels);
                CHECK(memcmp(labels, base, n * sizeof *base) == 0);
            }
        }
        free(labels);
        free(base);
        free(word);
    }
    free(weights);
}

static bool refused(const uint8_t *weights, size_t size, size_t n_layers, size_t n_letters,
                    size_t n_labels) {
    letters_network network;
    return letters_open(&network, weights, size, n_layers, n_letters, n_labels) ==
           STATUS_BAD_ARGUMENT;
}

static void check_refused(void) {
    uint8_t *weights = made_weights(0);
    CHECK(!refused(weights, SIZE, LAYERS, LETTERS, LABELS));
    CHECK(refused(weights, SIZE - 1, LAYERS, LETTERS, LABELS));
    CHECK(refused(weights, SIZE, LAYERS + 1, LETTERS, LABELS));
    CHECK(refused(weights, SIZE, SIZE_MAX, LETTERS, LABELS));
    CHECK(refused(weights, SIZE, LAYERS, LETTERS + 1, LABELS));
    CHECK(refused(weights, SIZE, LAYERS, 0, LABELS));
    CHECK(refused(weights, SIZE, LAYERS, LETTERS, 0));
    CHECK(refused(weights + 1, SIZE, LAYERS, LETTERS, LABELS));
    free(weights);
    weights = made_weights(1 << 7); /* letter 7 has no label */
    CHECK(refused(weights, SIZE, LAYERS, LETTERS, LABELS));
    free(weights);
}

int main(void) {
    check_words();
    check_refused();
    return 0;
}
