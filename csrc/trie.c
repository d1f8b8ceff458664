#include "trie.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

/* Nodes 0..255 are the root's children. A leaf's base leads to 256..511, which stay empty. */
enum { LEAF_BASE = 256, FIRST_FREE = 512, BYTES = 256, MAX_TRIES = 8 };

static const trie_node empty_node = {TRIE_NO_LABEL, UINT32_MAX};

/* Keys order[begin .. end) that share the bytes on the way to a node. */
typedef struct {
    uint32_t begin, end, node;
} segment;

typedef struct {
    trie_node *nodes;
    uint64_t *taken; /* a bit for each node */
    uint64_t *bases; /* a bit for each base in use */
    size_t capacity; /* nodes, a multiple of 64 */
    size_t first_free;
    size_t n; /* all nodes from here on are free */
} builder;

static uint32_t string_start(const byte_strings *strings, uint32_t i) {
    return i > 0 ? strings->ends[i - 1] : 0;
}

static bool has_bit(const uint64_t *bits, size_t i) {
    return bits[i / 64] >> (i % 64) & 1;
}

static void set_bit(uint64_t *bits, size_t i) {
    bits[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Makes room for n nodes and as many more as a search for a base may look at. */
static status reserve(builder *b, size_t n) {
    const size_t needed = n + 2 * BYTES;
    if (needed >= (size_t)1 << (32 - TRIE_LABEL_BITS)) {
        return STATUS_BAD_ARGUMENT;
    }
    if (needed <= b->capacity) {
        return STATUS_OK;
    }
    const size_t capacity = (needed + needed / 2 + 63) / 64 * 64;
    trie_node *nodes = realloc(b->nodes, capacity * sizeof *nodes);
    b->nodes = nodes ? nodes : b->nodes;
    uint64_t *taken = realloc(b->taken, capacity / 8);
    b->taken = taken ? taken : b->taken;
    uint64_t *bases = realloc(b->bases, capacity / 8);
    b->bases = bases ? bases : b->bases;
    if (!nodes || !taken || !bases) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = b->capacity; i < capacity; i++) {
        nodes[i] = empty_node;
    }
    memset(taken + b->capacity / 64, 0, (capacity - b->capacity) / 8);
    memset(bases + b->capacity / 64, 0, (capacity - b->capacity) / 8);
    b->capacity = capacity;
    return STATUS_OK;
}

/* The 64 bits from bit i on. */
static uint64_t window(const uint64_t *bits, size_t i) {
    const unsigned shift = i % 64;
    /* the double shift is one by 64 - shift, which may be 64 */
    return bits[i / 64] >> shift | bits[i / 64 + 1] << 1 << (63 - shift);
}

/* Gives the node a base that no other node has and whose children at these labels, which ascend,
 * are free, and makes room for them. */
static status find_base(builder *b, uint32_t node, const uint8_t *labels, size_t n_labels,
                        uint32_t *base) {
    while (b->taken[b->first_free / 64] == UINT64_MAX) {
        b->first_free += 64;
    }
    size_t at = b->first_free - labels[0];
    uint64_t fitting = 0;
    for (size_t tries = 0; at < b->n && !fitting; tries++) {
        if (tries == MAX_TRIES) {
            b->first_free += 64; /* what is free there is of little use */
            at = b->n;
            break;
        }
        fitting = ~window(b->bases, at);
        for (size_t i = 0; i < n_labels && fitting; i++) {
            fitting &= ~window(b->taken, at + labels[i]);
        }
        at += fitting ? (size_t)__builtin_ctzll(fitting) : 64;
    }
    b->n = b->n > at + BYTES ? b->n : at + BYTES;
    const status failed = reserve(b, b->n);
    if (!failed) {
        *base = (uint32_t)at;
        set_bit(b->bases, at);
        b->nodes[node].base_label =
            *base << TRIE_LABEL_BITS | (b->nodes[node].base_label & TRIE_LABEL);
    }
    return failed;
}

static void add_leaf(builder *b, uint32_t node, size_t label, trie_key longest) {
    set_bit(b->taken, node);
    b->nodes[node] = (trie_node){LEAF_BASE << TRIE_LABEL_BITS | (uint32_t)label, longest};
}

/* The labels whose bits are set, in ascending order; returns how many. */
static size_t list_labels(const uint64_t bits[BYTES / 64], uint8_t labels[BYTES]) {
    size_t n = 0;
    for (size_t i = 0; i < BYTES / 64; i++) {
        for (uint64_t rest = bits[i]; rest; rest &= rest - 1) {
            labels[n++] = (uint8_t)(i * 64 + (size_t)__builtin_ctzll(rest));
        }
    }
    return n;
}

/* Gives the node of `from` its children and appends to children a segment of order for each. */
static status branch(builder *b, const byte_strings *keys, size_t depth, segment from,
                     uint32_t *order, uint32_t *scratch, segment **children) {
    uint64_t found[BYTES / 64] = {0};
    uint32_t places[BYTES]; /* how many keys have the label, then where the next of them goes */
    for (size_t i = from.begin; i < from.end; i++) {
        const uint8_t label = keys->bytes[string_start(keys, order[i]) + depth];
        places[label] = has_bit(found, label) ? places[label] + 1 : 1;
        set_bit(found, label);
    }
    uint8_t labels[BYTES];
    const size_t n_labels = list_labels(found, labels);
    uint32_t base = 0;
    trie_key longest = TRIE_NONE;
    if (depth > 0) {
        longest = b->nodes[from.node].longest;
        const status failed = find_base(b, from.node, labels, n_labels, &base);
        if (failed) {
            return failed;
        }
    }
    uint32_t end = from.begin;
    for (size_t i = 0; i < n_labels; i++) {
        const uint32_t begin = end;
        end += places[labels[i]];
        places[labels[i]] = begin;
        add_leaf(b, base + labels[i], labels[i], longest);
        *(*children)++ = (segment){begin, end, base + labels[i]};
    }
    memcpy(scratch, order + from.begin, (from.end - from.begin) * sizeof *scratch);
    for (size_t i = 0; i < from.end - from.begin; i++) {
        const uint8_t label = keys->bytes[string_start(keys, scratch[i]) + depth];
        order[places[label]++] = scratch[i];
    }
    return STATUS_OK;
}

/* Grows the rest of the only key that goes on from the node. */
static status add_tail(builder *b, const byte_strings *keys, size_t depth, uint32_t node,
                       uint32_t key, trie_key *prefixes) {
    const uint8_t *const bytes = keys->bytes + string_start(keys, key);
    const size_t length = keys->ends[key] - string_start(keys, key);
    const trie_key longest = b->nodes[node].longest;
    for (; depth < length; depth++) {
        uint32_t base;
        const status failed = find_base(b, node, &bytes[depth], 1, &base);
        if (failed) {
            return failed;
        }
        node = base + bytes[depth];
        add_leaf(b, node, bytes[depth], longest);
    }
    prefixes[key] = longest;
    b->nodes[node].longest = key << 8 | (uint32_t)length;
    return STATUS_OK;
}

/* Records the key that ends at the segment's node and takes it out of the segment. */
static status end_key(builder *b, const byte_strings *keys, size_t depth, segment *at,
                      uint32_t *order, trie_key *prefixes, size_t *culprit) {
    uint32_t found = UINT32_MAX;
    for (uint32_t i = at->begin; i < at->end; i++) {
        const uint32_t key = order[i];
        if (keys->ends[key] - string_start(keys, key) != depth) {
            continue;
        }
        if (found != UINT32_MAX) {
            *culprit = key;
            return STATUS_BAD_ARGUMENT;
        }
        found = key;
        order[i] = order[at->begin];
        order[at->begin] = key;
    }
    if (found != UINT32_MAX) {
        at->begin++;
        prefixes[found] = b->nodes[at->node].longest;
        b->nodes[at->node].longest = found << 8 | (uint32_t)depth;
    }
    return STATUS_OK;
}

/* Level by level: keys of the same first bytes stand together in order. */
static status grow(builder *b, const byte_strings *keys, trie_key *prefixes, uint32_t *order,
                   segment *level, segment *next, size_t *culprit) {
    uint32_t *const scratch = order + keys->n;
    size_t n_level = 1;
    level[0] = (segment){0, (uint32_t)keys->n, 0};
    for (size_t depth = 0; n_level > 0; depth++) {
        segment *children = next;
        for (size_t i = 0; i < n_level; i++) {
            status failed = STATUS_OK;
            if (depth > 0) {
                failed = end_key(b, keys, depth, &level[i], order, prefixes, culprit);
            }
            const uint32_t n = level[i].end - level[i].begin;
            if (!failed && n == 1 && depth > 0) {
                failed = add_tail(b, keys, depth, level[i].node, order[level[i].begin], prefixes);
            } else if (!failed && n > 0) {
                failed = branch(b, keys, depth, level[i], order, scratch, &children);
            }
            if (failed) {
                return failed;
            }
        }
        n_level = (size_t)(children - next);
        segment *const swap = level;
        level = next;
        next = swap;
    }
    return STATUS_OK;
}

status trie_build(const byte_strings *keys, trie *out, trie_key *prefixes, size_t *culprit) {
    out->nodes = NULL;
    *culprit = keys->n;
    if (keys->n >= TRIE_MAX_KEYS) {
        return STATUS_BAD_ARGUMENT;
    }
    for (size_t i = 0, start = 0; i < keys->n; start = keys->ends[i++]) {
        if (keys->ends[i] <= start || keys->ends[i] - start > TRIE_MAX_LENGTH) {
            *culprit = i;
            return STATUS_BAD_ARGUMENT;
        }
    }
    builder b = {.first_free = FIRST_FREE, .n = FIRST_FREE};
    uint32_t *order = malloc((2 * keys->n + 1) * sizeof *order);
    segment *segments = malloc((2 * keys->n + 2) * sizeof *segments);
    /* every key ends at a node of its own */
    status failed = order && segments ? reserve(&b, b.n + keys->n) : STATUS_NO_MEMORY;
    if (!failed) {
        memset(b.taken, 0xff, FIRST_FREE / 8);
        set_bit(b.bases, 0);
        set_bit(b.bases, LEAF_BASE);
        for (size_t i = 0; i < keys->n; i++) {
            order[i] = (uint32_t)i;
        }
        if (keys->n > 0) {
            failed = grow(&b, keys, prefixes, order, segments, segments + keys->n + 1, culprit);
        }
    }
    free(segments);
    free(order);
    free(b.taken);
    free(b.bases);
    if (!failed) {
        out->nodes = pages_alloc(b.n * sizeof *b.nodes);
        failed = out->nodes ? STATUS_OK : STATUS_NO_MEMORY;
    }
    if (!failed) {
        memcpy(out->nodes, b.nodes, b.n * sizeof *b.nodes);
    }
    free(b.nodes);
    return failed;
}

void trie_free(trie *t) {
    free(t->nodes);
    t->nodes = NULL;
}
