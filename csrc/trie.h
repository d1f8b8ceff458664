/* The longest of a set of byte strings that a text begins with: a double-array trie. */
#ifndef TWINVOX_TRIE_H
#define TWINVOX_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum { TRIE_MAX_KEYS = 1 << 24, TRIE_MAX_LENGTH = 255 };

/* A key: its index << 8 | its length in bytes. */
typedef uint32_t trie_key;

static const trie_key TRIE_NONE = UINT32_MAX;

static inline uint32_t trie_index(trie_key key) {
    return key >> 8;
}

static inline uint32_t trie_length(trie_key key) {
    return key & 0xff;
}

/* A node: it is at its parent's base + the byte that leads to it, which its label repeats. */
typedef struct {
    uint32_t base_label;
    trie_key longest; /* on the way from the root to here, included */
} trie_node;

typedef struct {
    trie_node *nodes;
} trie;

/* Byte strings one after another: string i ends at ends[i], and there string i + 1 begins. */
typedef struct {
    const uint8_t *bytes;
    const uint32_t *ends;
    size_t n;
} byte_strings;

/* Builds the trie of the keys, each of 1..TRIE_MAX_LENGTH bytes, fewer than TRIE_MAX_KEYS of them;
 * prefixes [n] receives the longest other key that each begins with, TRIE_NONE where there is none.
 * STATUS_BAD_ARGUMENT where a key is too long, empty or repeated, *culprit being its index, or
 * where all together need more nodes than can be told apart, *culprit being n. */
status trie_build(const byte_strings *keys, trie *out, trie_key *prefixes, size_t *culprit);

void trie_free(trie *t);

enum { TRIE_LABEL_BITS = 9, TRIE_LABEL = (1 << TRIE_LABEL_BITS) - 1, TRIE_NO_LABEL = 0x100 };

/* The longest key at p, of no more than end - p bytes, or TRIE_NONE. */
static inline trie_key trie_longest(const trie *t, const uint8_t *p, const uint8_t *end) {
    trie_key longest = TRIE_NONE;
    uint32_t base = 0;
    for (; p < end; p++) {
        const trie_node node = t->nodes[base + *p];
        if ((node.base_label & TRIE_LABEL) != *p) {
            break;
        }
        base = node.base_label >> TRIE_LABEL_BITS;
        longest = node.longest;
    }
    return longest;
}

#endif
