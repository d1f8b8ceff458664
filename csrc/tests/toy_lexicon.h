/* A small lexicon file for the C tests. */
#ifndef TWINVOX_TOY_LEXICON_H
#define TWINVOX_TOY_LEXICON_H

#include <stdint.h>
#include <string.h>

#include "check.h"
#include "utf8.h"

enum { TOY_FORMS = 3, TOY_BLOCK = 4, TOY_ROOM = 1 << 16 };

typedef struct {
    const char *key, *base;
    unsigned flags;
    struct {
        unsigned context;
        const char *text;
    } forms[TOY_FORMS];
} toy_entry;

/* Every piece that the toy's phonemes are made of, one code each. */
static const char *const toy_pieces[] = {
    "a", "b", "d", "e", "f", "h", "i", "k", "l", "m", "n", "o", "p", "s", "t", "u", "v", "w", "z",
    "æ", "ð", "ɐ", "ɑ", "ɔ", "ə", "ɚ", "ɛ", "ɡ", "ɪ", "ɹ", "ɾ", "ʊ", "ʌ", "ˈ", "ˌ", "ː", " ", "ˈɛ",
};

static uint8_t *toy_put(uint8_t *at, uint32_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        *at++ = (uint8_t)(value >> 8 * i);
    }
    return at;
}

/* Codes for text, the longest piece first; what they end at. */
static uint8_t *toy_encode(uint8_t *at, const char *text) {
    while (*text != 0) {
        size_t best = 0, code = 0;
        for (size_t i = 0; i < sizeof toy_pieces / sizeof *toy_pieces; i++) {
            const size_t n = strlen(toy_pieces[i]);
            if (n > best && strncmp(text, toy_pieces[i], n) == 0) {
                best = n;
                code = i;
            }
        }
        CHECK(best > 0);
        *at++ = (uint8_t)code;
        text += best;
    }
    return at;
}

static uint8_t *toy_value(uint8_t *at, const toy_entry *entry) {
    uint8_t *head = at;
    at = toy_encode(at + 1, entry->base);
    *head = (uint8_t)(at - head - 1);
    unsigned n_forms = 0;
    while (n_forms < TOY_FORMS && entry->forms[n_forms].text) {
        n_forms++;
    }
    if (entry->flags || n_forms) {
        *head |= 0x80;
        at = toy_put(at, entry->flags, 2);
        *at++ = (uint8_t)n_forms;
        for (unsigned i = 0; i < n_forms; i++) {
            *at++ = (uint8_t)entry->forms[i].context;
            uint8_t *size = at;
            at = toy_encode(at + 1, entry->forms[i].text);
            *size = (uint8_t)(at - size - 1);
        }
    }
    return at;
}

/* Writes entries, sorted by key, as a lexicon to blob [TOY_ROOM]; its size. */
static inline size_t toy_lexicon(const toy_entry *entries, size_t n, uint8_t *blob) {
    const size_t n_blocks = (n + TOY_BLOCK - 1) / TOY_BLOCK;
    uint8_t *at = blob;
    memcpy(at, "TVLX", 4);
    at = toy_put(at + 4, 1, 2);
    at = toy_put(at, TOY_BLOCK, 2);
    at = toy_put(at, (uint32_t)n, 4);
    at = toy_put(at, (uint32_t)n_blocks, 4);
    for (size_t code = 0; code < 256; code++) {
        const char *piece =
            code < sizeof toy_pieces / sizeof *toy_pieces ? toy_pieces[code] : "";
        *at++ = (uint8_t)strlen(piece);
        memcpy(at, piece, strlen(piece));
        at += strlen(piece);
    }
    uint8_t *offsets = at;
    at += 4 * n_blocks;
    for (size_t i = 0; i < n; i++) {
        size_t shared = 0;
        if (i % TOY_BLOCK == 0) {
            offsets = toy_put(offsets, (uint32_t)(at - blob), 4);
        } else {
            const char *before = entries[i - 1].key;
            while (before[shared] != 0 && before[shared] == entries[i].key[shared]) {
                shared++;
            }
        }
        const size_t n_suffix = strlen(entries[i].key) - shared;
        *at++ = (uint8_t)shared;
        *at++ = (uint8_t)n_suffix;
        memcpy(at, entries[i].key + shared, n_suffix);
        at = toy_value(at + n_suffix, entries + i);
    }
    CHECK(at - blob <= TOY_ROOM);
    return (size_t)(at - blob);
}

#endif
