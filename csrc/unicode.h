/* What the Qwen2 pre-tokeniser and the NFC check ask of a code point (Unicode 16). */
#ifndef TWINVOX_UNICODE_H
#define TWINVOX_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNICODE_BLOCK = 128 };

typedef enum {
    KIND_OTHER,
    KIND_LETTER,  /* \p{L} */
    KIND_NUMBER,  /* \p{N} */
    KIND_SPACE,   /* \s but for KIND_NEWLINE */
    KIND_NEWLINE, /* [\r\n] */
} unicode_kind;

/* A class is '0' + kind, + UNICODE_MAY_COMPOSE for what NFC may replace, reorder or join. */
enum { UNICODE_KIND = 7, UNICODE_MAY_COMPOSE = 8 };

extern const uint32_t unicode_end;
extern const uint16_t unicode_blocks[];
extern const char unicode_classes[][UNICODE_BLOCK + 1];

static inline unsigned unicode_class(uint32_t point) {
    if (point >= unicode_end) {
        return KIND_OTHER | UNICODE_MAY_COMPOSE;
    }
    const char *block = unicode_classes[unicode_blocks[point / UNICODE_BLOCK]];
    return block[point % UNICODE_BLOCK] & (UNICODE_KIND | UNICODE_MAY_COMPOSE);
}

typedef struct {
    uint32_t point;
    uint32_t length; /* in bytes */
} unicode_scalar;

/* The scalar at p < end. Of what is not UTF-8 one byte is taken, as a private-use scalar. */
static inline unicode_scalar unicode_decode(const uint8_t *p, const uint8_t *end) {
    static const unicode_scalar bad = {0x10ffff, 1};
    const uint32_t lead = p[0];
    if (lead < 0x80) {
        return (unicode_scalar){lead, 1};
    }
    const uint32_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead < 0xc2 || lead > 0xf4 || (size_t)(end - p) < length) {
        return bad;
    }
    uint32_t point = lead & (0x7fu >> length);
    for (uint32_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return bad;
        }
        point = point << 6 | (p[i] & 0x3f);
    }
    return (unicode_scalar){point, length};
}

/* Whether U+4E00..U+9FFF is at p <= end: three bytes, letters all, and never composed. */
static inline bool unicode_is_han(const uint8_t *p, const uint8_t *end) {
    return end - p >= 3 && (uint32_t)(p[0] << 8 | p[1]) - 0xe4b8u <= 0xe9bfu - 0xe4b8u;
}

/* Whether valid UTF-8 is in NFC without a doubt; no means that it may or may not be. */
bool unicode_is_nfc(const uint8_t *text, size_t n);

#endif
