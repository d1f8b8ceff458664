/* Byte-level BPE over UTF-8: a text to the ids of a vocabulary, and back. */
#ifndef TWINVOX_BPE_H
#define TWINVOX_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trie.h"

enum { BPE_BYTES = 256 };

/* What is wrong with a vocabulary or its files. */
typedef enum {
    BPE_SOUND,
    BPE_NO_MEMORY,
    BPE_TOO_LARGE,
    BPE_BAD_LINE,
    BPE_BAD_LINE_ID,
    BPE_BAD_JSON,
    BPE_BAD_JSON_ID,
    BPE_REPEATED_ID,
    BPE_MISSING_ID,
    BPE_BAD_LENGTH,
    BPE_REPEATED,
    BPE_NO_BYTE,
    BPE_NO_PARTS,
    BPE_OTHER_MERGE,
    BPE_MERGES_MISSING,
    BPE_BAD_SPECIAL_ID,
    BPE_FAULTS
} bpe_fault;

/* The fault in words, with a %zu for the `at` that comes with it: a line of a file from 1 on, a
 * byte of a file from 0 on, the id of a token or the index of a special one. */
const char *bpe_fault_format(bpe_fault fault);

typedef struct bpe bpe;

/* Token i has id i: the 256 bytes first, in any order, then tokens that merge two earlier ones, in
 * the order of the merges. Every token is at most TRIE_MAX_LENGTH bytes long. */
bpe_fault bpe_create(const byte_strings *tokens, bpe **out, size_t *at);

/* Tokens that texts contain literally, at most TRIE_MAX_LENGTH bytes long, and their ids, which
 * ascend from the number of tokens on, in the place of earlier ones; after a fault there are none.
 * Not while b is in use. */
bpe_fault bpe_set_specials(bpe *b, const byte_strings *specials, const int32_t *ids, size_t *at);

void bpe_destroy(bpe *b);

/* Tokens without the special ones. */
size_t bpe_size(const bpe *b);

/* The two tokens that make token id; of a byte, itself twice. */
void bpe_parts_of(const bpe *b, uint32_t id, uint32_t parts[2]);

/* 64-bit words of scratch for a text of n bytes. */
static inline size_t bpe_scratch_words(size_t n) {
    return n / 64 + 1;
}

/* Writes the ids of the text, which is UTF-8 in NFC, to out [n] and returns how many; special
 * tokens are looked for or not. */
size_t bpe_encode(const bpe *b, const uint8_t *text, size_t n, bool specials, uint64_t *scratch,
                  int32_t *out);

/* The bytes of token id, or NULL where there is no such token. */
const uint8_t *bpe_token_bytes(const bpe *b, int32_t id, size_t *length);

/* How many bytes the tokens have together; SIZE_MAX where there is no such token, *at telling which
 * of the ids is wrong. */
size_t bpe_decoded_size(const bpe *b, const int32_t *ids, size_t n, size_t *at);

/* Writes the bytes of tokens that are all known to out [bpe_decoded_size]. */
void bpe_decode(const bpe *b, const int32_t *ids, size_t n, uint8_t *out);

#endif
