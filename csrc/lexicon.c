#include "lexicon.h"

#include <string.h>

#include "utf8.h"

enum { VERSION = 1, HEADER = 16, DETAILS = 0x80, PREFIX = 8 };
enum { STRESS_LEAD = 0xcb, PRIMARY_TAIL = 0x88, SECONDARY_TAIL = 0x8c }; /* ˈ and ˌ in UTF-8 */

static uint16_t read16(const uint8_t *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t read32(const uint8_t *at) {
    return (uint32_t)read16(at) | (uint32_t)read16(at + 2) << 16;
}

/* The first bytes of a key as a number that sorts as they do. */
static uint64_t prefix_of(const uint8_t *key, size_t n) {
    uint64_t prefix = 0;
    for (size_t i = 0; i < PREFIX; i++) {
        prefix = prefix << 8 | (i < n ? key[i] : 0);
    }
    return prefix;
}

static bool has_primary_stress(const uint8_t *text, size_t n) {
    for (size_t i = 0; i + 1 < n; i++) {
        if (text[i] == STRESS_LEAD && text[i + 1] == PRIMARY_TAIL) {
            return true;
        }
    }
    return false;
}

size_t lexicon_blocks(const void *blob, size_t size) {
    const uint8_t *head = blob;
    if (size < HEADER || memcmp(head, "TVLX", 4) != 0 || read16(head + 4) != VERSION) {
        return 0;
    }
    const size_t n_blocks = read32(head + 12);
    return n_blocks <= size / 4 ? n_blocks : 0;
}

/* Fills the code table; the offset after it, 0 where it leaves the blob or is not UTF-8. */
static size_t read_pieces(lexicon *out, const uint8_t *blob, size_t size) {
    size_t at = HEADER;
    for (size_t code = 0; code < LEXICON_CODES; code++) {
        if (at >= size || blob[at] > size - at - 1 || !utf8_valid(blob + at + 1, blob[at])) {
            return 0;
        }
        out->piece_at[code] = (uint32_t)at + 1;
        out->piece_size[code] = blob[at];
        out->piece_stressed[code] = has_primary_stress(blob + at + 1, blob[at]);
        at += 1 + (size_t)blob[at];
    }
    return at;
}

static size_t block_start(const lexicon *from, size_t block) {
    return read32(from->offsets + 4 * block);
}

static size_t block_end(const lexicon *from, size_t block) {
    return block + 1 < from->n_blocks ? block_start(from, block + 1) : from->size;
}

/* The first key of a block; its size, or SIZE_MAX where it leaves the block. */
static size_t first_key(const lexicon *from, size_t block, const uint8_t **key) {
    const size_t start = block_start(from, block);
    const size_t room = block_end(from, block) - start;
    if (room < 2 || from->blob[start] != 0 || from->blob[start + 1] > room - 2) {
        return SIZE_MAX;
    }
    *key = from->blob + start + 2;
    return from->blob[start + 1];
}

status lexicon_open(lexicon *out, const void *blob, size_t size, uint64_t *index) {
    const size_t n_blocks = lexicon_blocks(blob, size);
    const size_t offsets = n_blocks > 0 ? read_pieces(out, blob, size) : 0;
    if (offsets == 0 || n_blocks > (size - offsets) / 4) {
        return STATUS_BAD_ARGUMENT;
    }
    out->blob = blob;
    out->size = size;
    out->offsets = out->blob + offsets;
    out->n_blocks = (uint32_t)n_blocks;
    out->n_entries = read32(out->blob + 8);
    out->index = index;
    size_t least = offsets + 4 * n_blocks;
    for (size_t block = 0; block < n_blocks; block++) {
        if (block_start(out, block) < least || block_start(out, block) > size) {
            return STATUS_BAD_ARGUMENT;
        }
        least = block_start(out, block);
    }
    for (size_t block = 0; block < n_blocks; block++) {
        const uint8_t *key = NULL;
        const size_t n = first_key(out, block, &key);
        if (n == SIZE_MAX) {
            return STATUS_BAD_ARGUMENT;
        }
        index[block] = prefix_of(key, n);
    }
    return STATUS_OK;
}

static int compare(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b) {
    const int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
    return order != 0 ? order : (n_a > n_b) - (n_a < n_b);
}

/* The last block whose first key is not above the key; n_blocks where there is none. */
static size_t block_of(const lexicon *from, const uint8_t *key, size_t n) {
    const uint64_t prefix = prefix_of(key, n);
    const uint64_t *low = from->index;
    for (size_t span = from->n_blocks; span > 1;) {
        const size_t half = span / 2;
        low = low[half] <= prefix ? low + half : low;
        span -= half;
    }
    for (size_t block = (size_t)(low - from->index) + 1; block-- > 0;) {
        const uint8_t *first = NULL;
        if (from->index[block] < prefix) {
            return block;
        }
        if (from->index[block] == prefix) {
            const size_t n_first = first_key(from, block, &first);
            if (compare(first, n_first, key, n) <= 0) {
                return block;
            }
        }
    }
    return from->n_blocks;
}

/* The offset after the value at `at`, or SIZE_MAX where it leaves the block. */
static size_t skip_value(const lexicon *from, size_t at, size_t end) {
    if (at >= end) {
        return SIZE_MAX;
    }
    const uint8_t head = from->blob[at];
    at += 1 + (size_t)(head & ~DETAILS);
    if (head & DETAILS) {
        if (at + 3 > end) {
            return SIZE_MAX;
        }
        unsigned count = from->blob[at + 2];
        for (at += 3; count > 0; count--) {
            if (at + 2 > end) {
                return SIZE_MAX;
            }
            at += 2 + (size_t)from->blob[at + 1];
        }
    }
    return at <= end ? at : SIZE_MAX;
}

static void read_value(const lexicon *from, size_t at, lexicon_entry *entry) {
    const uint8_t *value = from->blob + at;
    *entry = (lexicon_entry){.base = {value + 1, value[0] & ~DETAILS, true}};
    if (value[0] & DETAILS) {
        const uint8_t *details = value + 1 + entry->base.n;
        entry->flags = read16(details);
        entry->n_packed = details[2];
        entry->packed = details + 3;
    }
}

bool lexicon_find(const lexicon *from, const char *text, size_t n, lexicon_entry *entry) {
    const uint8_t *key = (const uint8_t *)text;
    const size_t block = block_of(from, key, n);
    if (block == from->n_blocks) {
        return false;
    }
    const size_t end = block_end(from, block);
    size_t matched = 0; /* bytes that the entry before shares with the key; it is below the key */
    for (size_t at = block_start(from, block); at + 2 <= end;) {
        const size_t shared = from->blob[at];
        const size_t n_suffix = from->blob[at + 1];
        const uint8_t *suffix = from->blob + at + 2;
        const size_t value = at + 2 + n_suffix;
        const size_t next = skip_value(from, value, end);
        if (next == SIZE_MAX || shared < matched) {
            return false;
        }
        if (shared == matched) {
            size_t same = 0;
            while (same < n_suffix && matched + same < n && suffix[same] == key[matched + same]) {
                same++;
            }
            matched += same;
            if (same == n_suffix && matched == n) {
                read_value(from, value, entry);
                return true;
            }
            if (matched == n || (same < n_suffix && suffix[same] > key[matched])) {
                return false;
            }
        }
        at = next;
    }
    return false;
}

bool lexicon_entry_form(const lexicon_entry *entry, unsigned context, lexicon_form *form) {
    if (entry->by_context) {
        *form = entry->by_context[context];
        return form->bytes != NULL;
    }
    const uint8_t *at = entry->packed;
    for (unsigned i = 0; i < entry->n_packed; i++, at += 2 + at[1]) {
        if (at[0] == context) {
            *form = (lexicon_form){at + 2, at[1], true};
            return true;
        }
    }
    return false;
}

size_t lexicon_form_size(const lexicon *from, const lexicon_form *form) {
    if (!form->coded) {
        return form->n;
    }
    size_t size = 0;
    for (size_t i = 0; i < form->n; i++) {
        size += from->piece_size[form->bytes[i]];
    }
    return size;
}

uint8_t *lexicon_spell(const lexicon *from, const lexicon_form *form, uint8_t *out) {
    if (!form->coded) {
        memcpy(out, form->bytes, form->n);
        return out + form->n;
    }
    for (size_t i = 0; i < form->n; i++) {
        const uint8_t code = form->bytes[i];
        memcpy(out, from->blob + from->piece_at[code], from->piece_size[code]);
        out += from->piece_size[code];
    }
    return out;
}

bool lexicon_form_stressed(const lexicon *from, const lexicon_form *form) {
    if (!form->coded) {
        return has_primary_stress(form->bytes, form->n);
    }
    for (size_t i = 0; i < form->n; i++) {
        if (from->piece_stressed[form->bytes[i]]) {
            return true;
        }
    }
    return false;
}

bool lexicon_form_equals(const lexicon *from, const lexicon_form *form, const uint8_t *text,
                         size_t n) {
    if (!form->coded) {
        return form->n == n && memcmp(form->bytes, text, n) == 0;
    }
    size_t at = 0;
    for (size_t i = 0; i < form->n; i++) {
        const size_t size = from->piece_size[form->bytes[i]];
        const uint8_t *piece = from->blob + from->piece_at[form->bytes[i]];
        if (size > n - at || memcmp(piece, text + at, size) != 0) {
            return false;
        }
        at += size;
    }
    return at == n;
}

/* A walk through the bytes of a form. */
typedef struct {
    const lexicon *from;
    const lexicon_form *form;
    size_t code, offset;
} walk;

static int next_byte(walk *at) {
    while (at->code < at->form->n) {
        const uint8_t code = at->form->bytes[at->code];
        if (!at->form->coded) {
            at->code++;
            return code;
        }
        if (at->offset < at->from->piece_size[code]) {
            return at->from->blob[at->from->piece_at[code] + at->offset++];
        }
        at->code++;
        at->offset = 0;
    }
    return -1;
}

/* The next two bytes of a scalar that is no stress mark, or one of its bytes and -1 in others. */
static void next_sound(walk *at, int pair[2]) {
    do {
        pair[0] = next_byte(at);
        pair[1] = pair[0] == STRESS_LEAD ? next_byte(at) : -1;
    } while (pair[0] == STRESS_LEAD && (pair[1] == PRIMARY_TAIL || pair[1] == SECONDARY_TAIL));
}

bool lexicon_same_sounds(const lexicon *from, const lexicon_form *a, const lexicon_form *b) {
    walk at = {from, a, 0, 0}, other = {from, b, 0, 0};
    int left[2], right[2];
    do {
        next_sound(&at, left);
        next_sound(&other, right);
        if (left[0] != right[0] || left[1] != right[1]) {
            return false;
        }
    } while (left[0] >= 0);
    return true;
}
