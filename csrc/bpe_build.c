#include <stdlib.h>
#include <string.h>

#include "bpe_tables.h"
#include "pages.h"
#include "unicode.h"

enum { FILTER_BITS_PER_TOKEN = 8 };

const char *bpe_fault_format(bpe_fault fault) {
    static const char *const formats[BPE_FAULTS] = {
        [BPE_SOUND] = "nothing is wrong (%zu)",
        [BPE_NO_MEMORY] = "no memory for the tables (%zu)",
        [BPE_TOO_LARGE] = "too large: more than the tables can hold (%zu)",
        [BPE_BAD_LINE] = "line %zu: expected a token in Base64, a space and its id",
        [BPE_BAD_LINE_ID] = "line %zu: expected an id from 0 to the number of tokens",
        [BPE_BAD_JSON] = ("byte %zu: expected one object of tokens, in GPT-2's alphabet of bytes, "
                          "and their ids"),
        [BPE_BAD_JSON_ID] = "byte %zu: expected an id from 0 to the number of tokens",
        [BPE_REPEATED_ID] = "two tokens have the id %zu",
        [BPE_MISSING_ID] = "no token has the id %zu, but others have higher ones",
        [BPE_BAD_LENGTH] = "token %zu is empty or longer than 255 bytes",
        [BPE_REPEATED] = "token %zu has the same bytes as another one",
        [BPE_NO_BYTE] = "none of the ids 0 to 255 is the byte %zu alone",
        [BPE_NO_PARTS] = "token %zu cannot come of merging tokens with lower ids",
        [BPE_OTHER_MERGE] = "line %zu: not the merge that makes the vocabulary's next token",
        [BPE_MERGES_MISSING] = "ends before the merge that makes token %zu of the vocabulary",
        [BPE_BAD_SPECIAL_ID] = "special token %zu has an id of the vocabulary or of another one",
    };
    return formats[fault];
}

/* The shift that leaves of a 64-bit hash an index below a power of two that is at least n. */
static unsigned hash_shift(size_t n) {
    unsigned bits = 6; /* a word of the filter */
    while ((size_t)1 << bits < n) {
        bits++;
    }
    return 64 - bits;
}

static void insert_pair(bpe *b, uint32_t id) {
    const uint64_t hash = bpe_pair_hash(b->parts[id].left, b->parts[id].right);
    const uint64_t bit = hash >> b->filter_shift;
    b->filter[bit / 64] |= (uint64_t)1 << (bit % 64);
    size_t slot = hash >> b->pairs_shift;
    while (b->pairs[slot].id != BPE_NO_TOKEN) {
        slot = bpe_next_slot(slot, b->pairs_shift);
    }
    b->pairs[slot] = (bpe_pair){(int32_t)id, bpe_pair_tag(hash)};
}

static void insert_word(bpe *b, uint32_t id) {
    const uint32_t length = bpe_length(b, id);
    if (length <= BPE_WORD) {
        bpe_word_bytes bytes = {0, 0};
        memcpy(&bytes, b->bytes + b->starts[id], length);
        size_t slot = bpe_word_slot(b, bytes);
        while (b->words[slot].length > 0) {
            slot = bpe_next_slot(slot, b->words_shift);
        }
        b->words[slot] = (bpe_word){bytes, (int32_t)id, length};
    }
}

/* Finds the two earlier tokens that merging the bytes of the token leads to: those that make it up
 * and stay apart under the earlier merges. There are no other two, or none. */
static bool find_parts(bpe *b, uint32_t id) {
    const uint8_t *const bytes = b->bytes + b->starts[id];
    const uint32_t length = bpe_length(b, id);
    trie_key left = b->prefixes[id];
    for (; left != TRIE_NONE; left = b->prefixes[trie_index(left)]) {
        if (trie_index(left) >= id) {
            continue;
        }
        const trie_key right = trie_longest(&b->trie, bytes + trie_length(left), bytes + length);
        if (trie_length(left) + trie_length(right) == length && trie_index(right) < id &&
            bpe_stay_apart(b, trie_index(left), trie_index(right))) {
            b->parts[id] = (bpe_parts){trie_index(left), trie_index(right)};
            return true;
        }
    }
    return false;
}

static bool is_utf8(const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        const uint32_t length = unicode_decode(p, end).length;
        if (length == 1 && *p >= 0x80) {
            return false;
        }
        p += length;
    }
    return true;
}

/* The edge that begins with a part, below being the next one below that. */
static bpe_edge edge_to(uint32_t part, bool is_whole, bpe_edge below) {
    return !is_whole ? below : below == BPE_NO_EDGE ? part : part | BPE_MORE;
}

/* Notes what bpe_nothing_crosses asks about the token's merge. */
static void note_edges(bpe *b, uint32_t id) {
    const bpe_parts parts = b->parts[id];
    const uint8_t *const bytes = b->bytes + b->starts[id];
    const uint8_t *const border = bytes + bpe_length(b, parts.left);
    const bool left_whole = is_utf8(bytes, border);
    const bool right_whole = is_utf8(border, bytes + bpe_length(b, id));
    b->edges[id].left = edge_to(parts.left, left_whole, b->edges[parts.left].left);
    b->edges[id].right = edge_to(parts.right, right_whole, b->edges[parts.right].right);
    if (!left_whole || !right_whole) {
        const size_t meeting = (size_t)border[-1] << 8 | border[0];
        b->split_bytes[meeting / 64] |= (uint64_t)1 << (meeting % 64);
    }
}

static bpe_fault find_merges(bpe *b, size_t *at) {
    for (uint32_t id = 0; id < b->n; id++) {
        insert_word(b, id);
        if (id < BPE_BYTES) {
            b->parts[id] = (bpe_parts){id, id};
        } else if (find_parts(b, id)) {
            insert_pair(b, id);
            note_edges(b, id);
        } else {
            *at = id;
            return BPE_NO_PARTS;
        }
    }
    return BPE_SOUND;
}

static bpe_fault check_lengths(const byte_strings *strings, size_t *at) {
    for (size_t i = 0, start = 0; i < strings->n; start = strings->ends[i++]) {
        if (strings->ends[i] <= start || strings->ends[i] - start > TRIE_MAX_LENGTH) {
            *at = i;
            return BPE_BAD_LENGTH;
        }
    }
    return BPE_SOUND;
}

static bpe_fault check_bytes(const byte_strings *tokens, size_t *at) {
    bool found[BPE_BYTES] = {false};
    for (size_t i = 0; i < BPE_BYTES && i < tokens->n && tokens->ends[i] == i + 1; i++) {
        found[tokens->bytes[i]] = true;
    }
    for (size_t byte = 0; byte < BPE_BYTES; byte++) {
        if (!found[byte]) {
            *at = byte;
            return BPE_NO_BYTE;
        }
    }
    return BPE_SOUND;
}

/* Copies the strings and builds their trie. */
static bpe_fault take_strings(const byte_strings *strings, trie *t, uint8_t **bytes,
                              uint32_t **starts, trie_key *prefixes, size_t *at) {
    const size_t n_bytes = strings->n > 0 ? strings->ends[strings->n - 1] : 0;
    *bytes = malloc(n_bytes + 1);
    *starts = malloc((strings->n + 1) * sizeof **starts);
    if (!*bytes || !*starts) {
        return BPE_NO_MEMORY;
    }
    (*starts)[0] = 0;
    if (strings->n > 0) {
        memcpy(*bytes, strings->bytes, n_bytes);
        memcpy(*starts + 1, strings->ends, strings->n * sizeof **starts);
    }
    const status failed = trie_build(strings, t, prefixes, at);
    if (failed == STATUS_BAD_ARGUMENT) {
        return *at < strings->n ? BPE_REPEATED : BPE_TOO_LARGE;
    }
    return failed ? BPE_NO_MEMORY : BPE_SOUND;
}

static bpe_fault add_tokens(bpe *b, const byte_strings *tokens, size_t *at) {
    if (tokens->n >= TRIE_MAX_KEYS) {
        return BPE_TOO_LARGE;
    }
    bpe_fault fault = check_bytes(tokens, at);
    if (!fault) {
        fault = check_lengths(tokens, at);
    }
    if (fault) {
        return fault;
    }
    b->n = tokens->n;
    b->words_shift = hash_shift(b->n + b->n / 2);
    b->pairs_shift = b->words_shift;
    b->filter_shift = hash_shift(FILTER_BITS_PER_TOKEN * b->n);
    const size_t n_slots = (size_t)1 << (64 - b->pairs_shift);
    b->parts = pages_alloc(b->n * sizeof *b->parts);
    b->edges = pages_alloc(b->n * sizeof *b->edges);
    b->prefixes = malloc(b->n * sizeof *b->prefixes);
    b->words = pages_alloc(n_slots * sizeof *b->words);
    b->pairs = pages_alloc(n_slots * sizeof *b->pairs);
    b->filter = pages_alloc(sizeof *b->filter << (64 - 6 - b->filter_shift));
    if (!b->parts || !b->edges || !b->prefixes || !b->words || !b->pairs ||
        !b->filter) {
        return BPE_NO_MEMORY;
    }
    memset(b->edges, 0xff, b->n * sizeof *b->edges);    /* BPE_NO_EDGE */
    memset(b->pairs, 0xff, n_slots * sizeof *b->pairs); /* BPE_NO_TOKEN */
    fault = take_strings(tokens, &b->trie, &b->bytes, &b->starts, b->prefixes, at);
    return fault ? fault : find_merges(b, at);
}

static void forget_specials(bpe *b) {
    trie_free(&b->special_trie);
    free(b->special_ids);
    free(b->special_starts);
    free(b->special_bytes);
    b->special_ids = NULL;
    b->special_starts = NULL;
    b->special_bytes = NULL;
    b->n_specials = 0;
    memset(b->starts_special, 0, sizeof b->starts_special);
}

static bpe_fault take_specials(bpe *b, const byte_strings *specials, const int32_t *ids,
                               size_t *at) {
    const size_t n = specials->n;
    trie_key *const prefixes = malloc((n + 1) * sizeof *prefixes);
    b->special_ids = malloc((n + 1) * sizeof *b->special_ids);
    bpe_fault fault = BPE_NO_MEMORY;
    if (b->special_ids && prefixes) {
        fault = take_strings(specials, &b->special_trie, &b->special_bytes, &b->special_starts,
                             prefixes, at);
    }
    free(prefixes);
    for (size_t i = 0; !fault && i < n; i++) {
        b->special_ids[i] = ids[i];
        b->starts_special[b->special_bytes[b->special_starts[i]]] = true;
    }
    b->n_specials = fault ? 0 : n;
    return fault;
}

bpe_fault bpe_set_specials(bpe *b, const byte_strings *specials, const int32_t *ids, size_t *at) {
    forget_specials(b);
    for (size_t i = 0; i < specials->n; i++) {
        if (ids[i] < 0 || (size_t)ids[i] < b->n || (i > 0 && ids[i] <= ids[i - 1])) {
            *at = i;
            return BPE_BAD_SPECIAL_ID;
        }
    }
    bpe_fault fault = specials->n < TRIE_MAX_KEYS ? check_lengths(specials, at) : BPE_TOO_LARGE;
    if (!fault) {
        fault = take_specials(b, specials, ids, at);
    }
    if (fault) {
        forget_specials(b);
    }
    return fault;
}

bpe_fault bpe_create(const byte_strings *tokens, bpe **out, size_t *at) {
    *out = NULL;
    *at = 0;
    bpe *b = calloc(1, sizeof *b);
    if (!b) {
        return BPE_NO_MEMORY;
    }
    const bpe_fault fault = add_tokens(b, tokens, at);
    if (fault) {
        bpe_destroy(b);
    } else {
        *out = b;
    }
    return fault;
}

void bpe_destroy(bpe *b) {
    if (b) {
        forget_specials(b);
        trie_free(&b->trie);
        free(b->parts);
        free(b->edges);
        free(b->prefixes);
        free(b->starts);
        free(b->bytes);
        free(b->words);
        free(b->pairs);
        free(b->filter);
        free(b);
    }
}
