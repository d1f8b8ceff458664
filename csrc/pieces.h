/* The pre-tokeniser of Qwen2: cuts a text into the pieces that are merged each on its own. */
#ifndef TWINVOX_PIECES_H
#define TWINVOX_PIECES_H

#include <stdint.h>

#include "unicode.h"

/* The end of the piece that begins at p < end, as the first match there of
 *     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*
 *     |\s*[\r\n]+|\s+(?!\S)|\s+
 * The text is UTF-8; a byte that is not counts as neither space, letter nor number. */
const uint8_t *pieces_next(const uint8_t *p, const uint8_t *end);

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is taken as the lowest");

#define PIECES_EACH_BYTE(x) ((x) * 0x0101010101010101u)

/* The high bit of each byte, from the lowest on, that is no ASCII letter. */
static inline uint64_t pieces_no_letters(uint64_t bytes) {
    const uint64_t lower = (bytes | PIECES_EACH_BYTE(0x20u)) & PIECES_EACH_BYTE(0x7fu);
    const uint64_t from_a = lower + PIECES_EACH_BYTE(0x80u - 'a');
    const uint64_t past_z = lower + PIECES_EACH_BYTE(0x80u - 'z' - 1);
    return (~from_a | past_z | bytes) & PIECES_EACH_BYTE(0x80u);
}

/* The length of the piece that these eight bytes of text begin with where that is one to seven
 * ASCII letters, the first of them perhaps another ASCII character; 0 for any other piece. */
static inline unsigned pieces_short_word(uint64_t bytes) {
    const uint64_t others = pieces_no_letters(bytes);
    const uint64_t behind = others & ~(uint64_t)0xff;
    const unsigned first = bytes & 0xff;
    if (behind == 0 || first >= 0x80) {
        return 0;
    }
    const unsigned length = (unsigned)__builtin_ctzll(behind) / 8;
    if (bytes >> (8 * length + 7) & 1) {
        return 0; /* a letter that is not ASCII may go on with the word */
    }
    if (others & 0x80) {
        const unsigned kind = unicode_class(first) & UNICODE_KIND;
        if (length == 1 || first == '\'' || kind == KIND_NUMBER || kind == KIND_NEWLINE) {
            return 0;
        }
    }
    return length;
}

#endif
