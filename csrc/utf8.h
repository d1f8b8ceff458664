/* Walking over UTF-8 text in either direction. */
#ifndef TWINVOX_UTF8_H
#define TWINVOX_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the scalar that starts with this byte, in valid text. */
static inline size_t utf8_size(uint8_t lead) {
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* The scalar at `at` of valid text; 0 at its end. */
static inline uint32_t utf8_at(const uint8_t *at, const uint8_t *end) {
    if (at == end) {
        return 0;
    }
    const size_t size = utf8_size(*at);
    uint32_t scalar = size == 1 ? *at : *at & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        scalar = scalar << 6 | (at[i] & 0x3fu);
    }
    return scalar;
}

/* Where the last scalar before `at` begins; start where there is none. */
static inline const uint8_t *utf8_before(const uint8_t *start, const uint8_t *at) {
    while (at > start && (*--at & 0xc0) == 0x80) {
    }
    return at;
}

/* Whether n bytes are well-formed: no overlong form, no surrogate, nothing beyond U+10FFFF. */
static inline bool utf8_valid(const uint8_t *text, size_t n) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    for (size_t at = 0; at < n;) {
        const uint8_t lead = text[at];
        const size_t size = utf8_size(lead);
        if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || size > n - at) {
            return false;
        }
        for (size_t i = 1; i < size; i++) {
            if ((text[at + i] & 0xc0) != 0x80) {
                return false;
            }
        }
        const uint32_t scalar = utf8_at(text + at, text + n);
        if (scalar < least[size] || scalar > 0x10ffff || (scalar >> 11) == 0x1b) {
            return false;
        }
        at += size;
    }
    return true;
}

#endif
