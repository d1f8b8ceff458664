/* The tables behind bpe.h. */
#ifndef TWINVOX_BPE_TABLES_H
#define TWINVOX_BPE_TABLES_H

#include "bpe.h"

enum { BPE_NO_TOKEN = -1 };

/* The tokens that a token merges; of a byte, itself twice. */
typedef struct {
    uint32_t left, right;
} bpe_parts;

/* A token on the way down a token's left or right edge: what undoing its merges one by one leaves
 * there, as far as it is whole characters. Its id, | BPE_MORE unless it is the last one. */
typedef uint32_t bpe_edge;

static const bpe_edge BPE_MORE = 1u << 31;
static const bpe_edge BPE_NO_EDGE = UINT32_MAX;

/* The next edges below a token. */
typedef struct {
    bpe_edge left, right;
} bpe_edges;

/* A token in the table by parts, with some bits of the hash; BPE_NO_TOKEN where a slot is free. */
typedef struct {
    int32_t id;
    uint32_t tag;
} bpe_pair;

/* Up to BPE_WORD bytes, zeros behind them. */
typedef struct {
    uint64_t low, high;
} bpe_word_bytes;

enum { BPE_WORD = sizeof(bpe_word_bytes) };

/* A token so short; length 0 where a slot is free. */
typedef struct {
    bpe_word_bytes bytes;
    int32_t id;
    uint32_t length;
} bpe_word;

struct bpe {
    size_t n;
    trie trie;
    bpe_parts *parts;
    bpe_edges *edges;
    trie_key *prefixes; /* the longest other token that each begins with */
    uint32_t *starts;   /* n + 1, of each token's bytes, which the next one's follow */
    uint8_t *bytes;
    /* The short tokens, in open addressing: most pieces of text in Latin script are one of them,
     * and here that is told from one place in memory. */
    bpe_word *words;
    unsigned words_shift;
    /* Tokens by their parts, in open addressing. The filter, a bit for each hash, answers most of
     * the questions whose answer is no without a look at what is far away. */
    bpe_pair *pairs;
    uint64_t *filter;
    unsigned pairs_shift;
    unsigned filter_shift;
    /* A bit for each two bytes at which the parts of a merge meet, unless both parts are whole
     * characters. */
    uint64_t split_bytes[BPE_BYTES * BPE_BYTES / 64];

    trie special_trie;
    size_t n_specials;
    int32_t *special_ids;
    uint32_t *special_starts; /* n_specials + 1 */
    uint8_t *special_bytes;
    bool starts_special[256];
};

static inline uint32_t bpe_length(const bpe *b, uint32_t id) {
    return b->starts[id + 1] - b->starts[id];
}

static inline size_t bpe_next_slot(size_t slot, unsigned shift) {
    return (slot + 1) & (((size_t)1 << (64 - shift)) - 1);
}

static inline size_t bpe_word_slot(const bpe *b, bpe_word_bytes bytes) {
    const uint64_t mixed = bytes.low ^ bytes.high * 0xd6e8feb86659fd93u;
    return ((mixed ^ mixed >> 32) * 0x9e3779b97f4a7c15u) >> b->words_shift;
}

/* The token of these 1..BPE_WORD bytes, or BPE_NO_TOKEN. */
static inline int32_t bpe_find_word(const bpe *b, bpe_word_bytes bytes, size_t length) {
    for (size_t slot = bpe_word_slot(b, bytes);; slot = bpe_next_slot(slot, b->words_shift)) {
        const bpe_word found = b->words[slot];
        if (found.bytes.low == bytes.low && found.bytes.high == bytes.high &&
            found.length == length) {
            return found.id;
        }
        if (found.length == 0) {
            return BPE_NO_TOKEN;
        }
    }
}

static inline uint64_t bpe_pair_hash(uint32_t left, uint32_t right) {
    return ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u;
}

/* Bits that hardly depend on those that find the slot. */
static inline uint32_t bpe_pair_tag(uint64_t hash) {
    return (uint32_t)(hash >> 14);
}

/* The token that these two merge to, or UINT32_MAX: later than all. */
static inline uint32_t bpe_merged(const bpe *b, uint32_t left, uint32_t right) {
    const uint64_t hash = bpe_pair_hash(left, right);
    const uint64_t bit = hash >> b->filter_shift;
    if (!(b->filter[bit / 64] >> (bit % 64) & 1)) {
        return UINT32_MAX;
    }
    for (size_t slot = hash >> b->pairs_shift;; slot = bpe_next_slot(slot, b->pairs_shift)) {
        const bpe_pair found = b->pairs[slot];
        if (found.id == BPE_NO_TOKEN) {
            return UINT32_MAX;
        }
        if (found.tag == bpe_pair_tag(hash) && b->parts[found.id].left == left &&
            b->parts[found.id].right == right) {
            return (uint32_t)found.id;
        }
    }
}

/* Whether these tokens stay as they are where they meet: no merge across their border comes before
 * the merges that made them. Undoes those from the last one on and looks at each border. */
static inline bool bpe_stay_apart(const bpe *b, uint32_t left, uint32_t right) {
    uint32_t limit = UINT32_MAX;
    for (;;) {
        if (bpe_merged(b, left, right) < limit) {
            return false;
        }
        if (left > right && left >= BPE_BYTES) {
            limit = left;
            left = b->parts[left].right;
        } else if (right >= BPE_BYTES) {
            limit = right + 1;
            right = b->parts[right].left;
        } else {
            return true;
        }
    }
}

/* Whether no merge at all crosses the border of two tokens, the left one being the longest that its
 * text begins with, so that none extends it: for most neighbours the whole answer, in less time.
 * The text is at the border. */
static inline bool bpe_nothing_crosses(const bpe *b, uint32_t left, uint32_t right,
                                       const uint8_t *border) {
    const size_t bytes = (size_t)border[-1] << 8 | border[0];
    if (b->split_bytes[bytes / 64] >> (bytes % 64) & 1) {
        return false;
    }
    const bpe_edge first = b->edges[right].left;
    bpe_edge x = b->edges[left].right;
    while (x != BPE_NO_EDGE) {
        uint32_t y = right;
        bpe_edge below = first;
        for (;;) {
            if (bpe_merged(b, x & ~BPE_MORE, y) != UINT32_MAX) {
                return false;
            }
            if (below == BPE_NO_EDGE) {
                break;
            }
            y = below & ~BPE_MORE;
            below = below & BPE_MORE ? b->edges[y].left : BPE_NO_EDGE;
        }
        x = x & BPE_MORE ? b->edges[x & ~BPE_MORE].right : BPE_NO_EDGE;
    }
    return true;
}

#endif
