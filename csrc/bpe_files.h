/* The files that a byte-level BPE vocabulary comes in. */
#ifndef TWINVOX_BPE_FILES_H
#define TWINVOX_BPE_FILES_H

#include "bpe.h"

typedef enum {
    BPE_TIKTOKEN,   /* lines of a token in Base64, a space and its id */
    BPE_VOCAB_JSON, /* an object of tokens, each byte in GPT-2's alphabet of bytes, to ids */
} bpe_format;

/* As bpe_create, of the tokens of a file. */
bpe_fault bpe_load(bpe_format format, const uint8_t *file, size_t n, bpe **out, size_t *at);

/* Compares the lines of merges.txt, two parts in that alphabet with a space between them, with the
 * merges that make the tokens after the bytes, in the order of their ids. */
bpe_fault bpe_check_merges(const bpe *b, const uint8_t *file, size_t n, size_t *at);

#endif
