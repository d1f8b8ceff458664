#include "bpe.h"

#include <string.h>

#include "bpe_tables.h"
#include "pieces.h"

/* The ids of one piece: the longest token at each place that stays apart from the one before. Of
 * the ways to cut a text into tokens only one has all neighbours apart, so where none fits, the
 * token before was wrong, and no way leads over its end: dead has a bit for each such place. */
static size_t encode_piece(const bpe *b, const uint8_t *text, const uint8_t *end, uint64_t *dead,
                           int32_t *out) {
    trie_key next = trie_longest(&b->trie, text, end);
    if (trie_length(next) == (size_t)(end - text)) {
        *out = (int32_t)trie_index(next);
        return 1;
    }
    memset(dead, 0, bpe_scratch_words((size_t)(end - text)) * sizeof *dead);
    size_t n = 0;
    size_t at = 0;
    bool longest = true; /* whether next is, of those that its text begins with */
    bool longest_before = false;
    for (;;) {
        const size_t after = at + trie_length(next);
        const uint32_t id = trie_index(next);
        if (!(dead[after / 64] >> (after % 64) & 1) &&
            (n == 0 ||
             (longest_before && bpe_nothing_crosses(b, (uint32_t)out[n - 1], id, text + at)) ||
             bpe_stay_apart(b, (uint32_t)out[n - 1], id))) {
            out[n++] = (int32_t)id;
            if (text + after == end) {
                return n;
            }
            longest_before = longest;
            longest = true;
            at = after;
            next = trie_longest(&b->trie, text + at, end);
            continue;
        }
        longest = false;
        next = b->prefixes[id];
        if (next == TRIE_NONE) {
            dead[at / 64] |= (uint64_t)1 << (at % 64);
            const uint32_t wrong = (uint32_t)out[--n];
            const uint32_t length = bpe_length(b, wrong);
            at -= length;
            next = wrong << 8 | length;
            longest_before = false;
        }
    }
}

/* The low `length` bytes, of which it may have fewer. */
static uint64_t low_bytes(uint64_t word, size_t length) {
    return length < 8 ? word & ~(UINT64_MAX << 8 * length) : word;
}

/* The piece as the one token it may be, or BPE_NO_TOKEN; long ones are not looked up. */
static int32_t find_short(const bpe *b, const uint8_t *piece, size_t length, const uint8_t *end) {
    bpe_word_bytes bytes = {0, 0};
    if (length > BPE_WORD) {
        return BPE_NO_TOKEN;
    }
    if (end - piece >= BPE_WORD) {
        memcpy(&bytes, piece, BPE_WORD);
        bytes.low = low_bytes(bytes.low, length);
        bytes.high = length > 8 ? low_bytes(bytes.high, length - 8) : 0;
    } else {
        memcpy(&bytes, piece, length);
    }
    return bpe_find_word(b, bytes, length);
}

static size_t encode_ordinary(const bpe *b, const uint8_t *text, const uint8_t *end,
                              uint64_t *scratch, int32_t *out) {
    int32_t *const first = out;
    while (text < end) {
        const uint8_t *after = NULL;
        int32_t id = BPE_NO_TOKEN;
        if (end - text >= 8) {
            uint64_t eight;
            memcpy(&eight, text, sizeof eight);
            const unsigned length = pieces_short_word(eight);
            if (length > 0) {
                after = text + length;
                id = bpe_find_word(b, (bpe_word_bytes){low_bytes(eight, length), 0}, length);
            }
        }
        if (!after) {
            after = pieces_next(text, end);
            id = find_short(b, text, (size_t)(after - text), end);
        }
        if (id != BPE_NO_TOKEN) {
            *out++ = id;
        } else {
            out += encode_piece(b, text, after, scratch, out);
        }
        text = after;
    }
    return (size_t)(out - first);
}

/* Where the first special token at or after p begins, the longest of those there, and its id and
 * length in bytes; end where there is none. */
static const uint8_t *find_special(const bpe *b, const uint8_t *p, const uint8_t *end, int32_t *id,
                                   size_t *length) {
    const bool *const starts = b->starts_special;
    while (p < end) {
        /* eight by eight, for hardly any text has one */
        while (end - p >= 8 && !(starts[p[0]] | starts[p[1]] | starts[p[2]] | starts[p[3]] |
                                 starts[p[4]] | starts[p[5]] | starts[p[6]] | starts[p[7]])) {
            p += 8;
        }
        if (p == end) {
            break;
        }
        if (starts[*p]) {
            const trie_key found = trie_longest(&b->special_trie, p, end);
            if (found != TRIE_NONE) {
                *id = b->special_ids[trie_index(found)];
                *length = trie_length(found);
                break;
            }
        }
        p++;
    }
    return p;
}

size_t bpe_encode(const bpe *b, const uint8_t *text, size_t n, bool specials, uint64_t *scratch,
                  int32_t *out) {
    const uint8_t *const end = text + n;
    int32_t *const first = out;
    while (text < end) {
        int32_t id = BPE_NO_TOKEN;
        size_t length = 0;
        const uint8_t *const special =
            specials ? find_special(b, text, end, &id, &length) : end;
        out += encode_ordinary(b, text, special, scratch, out);
        if (special < end) {
            *out++ = id;
        }
        text = special + length;
    }
    return (size_t)(out - first);
}

size_t bpe_size(const bpe *b) {
    return b->n;
}

void bpe_parts_of(const bpe *b, uint32_t id, uint32_t parts[2]) {
    parts[0] = b->parts[id].left;
    parts[1] = b->parts[id].right;
}

const uint8_t *bpe_token_bytes(const bpe *b, int32_t id, size_t *length) {
    if (id >= 0 && (size_t)id < b->n) {
        *length = bpe_length(b, (uint32_t)id);
        return b->bytes + b->starts[id];
    }
    size_t low = 0;
    for (size_t high = b->n_specials; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (b->special_ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == b->n_specials || b->special_ids[low] != id) {
        return NULL;
    }
    *length = b->special_starts[low + 1] - b->special_starts[low];
    return b->special_bytes + b->special_starts[low];
}

size_t bpe_decoded_size(const bpe *b, const int32_t *ids, size_t n, size_t *at) {
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        size_t length = 0;
        if (!bpe_token_bytes(b, ids[i], &length)) {
            *at = i;
            return SIZE_MAX;
        }
        total += length;
    }
    return total;
}

void bpe_decode(const bpe *b, const int32_t *ids, size_t n, uint8_t *out) {
    for (size_t i = 0; i < n; i++) {
        size_t length = 0;
        const uint8_t *const bytes = bpe_token_bytes(b, ids[i], &length);
        memcpy(out, bytes, length);
        out += length;
    }
}
