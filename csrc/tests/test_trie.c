#include "trie.h"

#include <string.h>

#include "check.h"
#include "rng.h"

enum { MAX_KEYS = 3000, ROOM = 1 << 16 };

/* Keys over so few letters that many begin with one another. */
static size_t random_keys(rng_state *rng, size_t n, unsigned letters, size_t max_length,
                          uint8_t *bytes, uint32_t *ends) {
    size_t end = 0;
    for (size_t i = 0; i < n; i++) {
        float draws[33];
        rng_uniform(rng, 33, draws);
        const size_t length = 1 + (size_t)(draws[32] * (float)max_length);
        for (size_t k = 0; k < length; k++) {
            bytes[end + k] = (uint8_t)(255 - (unsigned)(draws[k] * (float)letters));
        }
        size_t start = 0;
        for (size_t k = 0; k < i; start = ends[k++]) {
            if (ends[k] - start == length && memcmp(bytes + start, bytes + end, length) == 0) {
                return i; /* the first repetition ends the set */
            }
        }
        end += length;
        ends[i] = (uint32_t)end;
    }
    return n;
}

static trie_key naive_longest(const byte_strings *keys, const uint8_t *p, size_t n, size_t not) {
    trie_key longest = TRIE_NONE;
    size_t best = 0;
    size_t start = 0;
    for (size_t i = 0; i < keys->n; start = keys->ends[i++]) {
        const size_t length = keys->ends[i] - start;
        if (i != not && length <= n && length > best &&
            memcmp(keys->bytes + start, p, length) == 0) {
            best = length;
            longest = (trie_key)(i << 8 | length);
        }
    }
    return longest;
}

static void check_random_keys(uint64_t seed, size_t n, unsigned letters, size_t max_length) {
    rng_state rng;
    rng_seed(&rng, seed);
    uint8_t *bytes = malloc(ROOM);
    uint32_t *ends = malloc(MAX_KEYS * sizeof *ends);
    trie_key *prefixes = malloc(MAX_KEYS * sizeof *prefixes);
    CHECK(bytes && ends && prefixes);
    const byte_strings keys = {bytes, ends,
                               random_keys(&rng, n, letters, max_length, bytes, ends)};
    trie t;
    size_t culprit;
    CHECK(trie_build(&keys, &t, prefixes, &culprit) == STATUS_OK);
    size_t start = 0;
    for (size_t i = 0; i < keys.n; start = ends[i++]) {
        const size_t length = ends[i] - start;
        CHECK(trie_longest(&t, bytes + start, bytes + ends[i]) == (i << 8 | length));
        CHECK(prefixes[i] == naive_longest(&keys, bytes + start, length, i));
    }
    for (size_t round = 0; round < 300; round++) {
        float draws[24];
        uint8_t *text = malloc(24); /* of its own, so that AddressSanitizer sees overruns */
        CHECK(text);
        rng_uniform(&rng, 24, draws);
        const size_t length = round % 25;
        for (size_t k = 0; k < length; k++) {
            text[24 - length + k] = (uint8_t)(255 - (unsigned)(draws[k] * (float)(letters + 1)));
        }
        const uint8_t *const p = text + 24 - length;
        CHECK(trie_longest(&t, p, text + 24) == naive_longest(&keys, p, length, keys.n));
        free(text);
    }
    trie_free(&t);
    free(prefixes);
    free(ends);
    free(bytes);
}

static void check_every_byte(void) {
    uint8_t bytes[256];
    uint32_t ends[256];
    trie_key prefixes[256];
    for (unsigned i = 0; i < 256; i++) {
        bytes[i] = (uint8_t)i;
        ends[i] = i + 1;
    }
    const byte_strings keys = {bytes, ends, 256};
    trie t;
    size_t culprit;
    CHECK(trie_build(&keys, &t, prefixes, &culprit) == STATUS_OK);
    for (unsigned i = 0; i < 256; i++) {
        CHECK(trie_longest(&t, bytes + i, bytes + 256) == (i << 8 | 1));
    }
    trie_free(&t);
}

static void check_longest_key(void) {
    uint8_t bytes[TRIE_MAX_LENGTH + 1] = {0};
    const uint32_t ends[] = {TRIE_MAX_LENGTH};
    const uint32_t too_long[] = {TRIE_MAX_LENGTH + 1};
    trie_key prefixes[1];
    trie t;
    size_t culprit;
    byte_strings keys = {bytes, ends, 1};
    CHECK(trie_build(&keys, &t, prefixes, &culprit) == STATUS_OK);
    CHECK(trie_longest(&t, bytes, bytes + TRIE_MAX_LENGTH) == TRIE_MAX_LENGTH);
    CHECK(trie_longest(&t, bytes, bytes + TRIE_MAX_LENGTH - 1) == TRIE_NONE);
    trie_free(&t);
    keys.ends = too_long;
    CHECK(trie_build(&keys, &t, prefixes, &culprit) == STATUS_BAD_ARGUMENT && culprit == 0);
}

static void check_bad_keys(void) {
    const uint8_t bytes[] = "abab";
    const uint32_t repeated[] = {2, 4};
    const uint32_t empty[] = {2, 2};
    const uint32_t backwards[] = {2, 1};
    trie_key prefixes[2];
    trie t;
    size_t culprit;
    CHECK(trie_build(&(byte_strings){bytes, repeated, 2}, &t, prefixes, &culprit) ==
          STATUS_BAD_ARGUMENT);
    CHECK(culprit == 1 && t.nodes == NULL);
    CHECK(trie_build(&(byte_strings){bytes, empty, 2}, &t, prefixes, &culprit) ==
          STATUS_BAD_ARGUMENT);
    CHECK(culprit == 1);
    CHECK(trie_build(&(byte_strings){bytes, backwards, 2}, &t, prefixes, &culprit) ==
          STATUS_BAD_ARGUMENT);
    CHECK(trie_build(&(byte_strings){NULL, NULL, 0}, &t, prefixes, &culprit) == STATUS_OK);
    CHECK(trie_longest(&t, bytes, bytes + 4) == TRIE_NONE);
    trie_free(&t);
}

static void check_too_many_nodes(void) {
    enum { KEYS = 40000 };
    uint8_t *bytes = malloc((size_t)KEYS * TRIE_MAX_LENGTH);
    uint32_t *ends = malloc(KEYS * sizeof *ends);
    trie_key *prefixes = malloc(KEYS * sizeof *prefixes);
    CHECK(bytes && ends && prefixes);
    uint32_t state = 1;
    for (size_t i = 0; i < (size_t)KEYS * TRIE_MAX_LENGTH; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(state >> 24);
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        ends[i] = (i + 1) * TRIE_MAX_LENGTH;
    }
    trie t;
    size_t culprit;
    CHECK(trie_build(&(byte_strings){bytes, ends, KEYS}, &t, prefixes, &culprit) ==
          STATUS_BAD_ARGUMENT);
    CHECK(culprit == KEYS && t.nodes == NULL);
    free(prefixes);
    free(ends);
    free(bytes);
}

int main(void) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        check_random_keys(seed, MAX_KEYS, 2, 10);
        check_random_keys(seed, MAX_KEYS, 5, 6);
        check_random_keys(seed, 500, 255, 3);
        check_random_keys(seed, 40, 1, 32);
    }
    check_every_byte();
    check_longest_key();
    check_bad_keys();
    check_too_many_nodes();
    return 0;
}
