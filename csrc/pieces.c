#include "pieces.h"

#include <string.h>

/* How many of the eight bytes at p, from the first on, are ASCII letters. */
static inline unsigned eight_letters(const uint8_t *p) {
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    const uint64_t others = pieces_no_letters(bytes);
    return others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
}

/* \p{L}* */
static const uint8_t *skip_letters(const uint8_t *p, const uint8_t *end) {
    for (;;) {
        while (unicode_is_han(p, end)) {
            p += 3;
        }
        if (end - p >= 8) {
            const unsigned letters = eight_letters(p);
            p += letters;
            if (letters == 8) {
                continue;
            }
            if (*p < 0x80) {
                return p;
            }
        }
        if (p == end) {
            return p;
        }
        const unicode_scalar scalar = unicode_decode(p, end);
        if ((unicode_class(scalar.point) & UNICODE_KIND) != KIND_LETTER) {
            return p;
        }
        p += scalar.length;
    }
}

/* [^\s\p{L}\p{N}]*[\r\n]* */
static const uint8_t *skip_others(const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        const unicode_scalar scalar = unicode_decode(p, end);
        if ((unicode_class(scalar.point) & UNICODE_KIND) != KIND_OTHER) {
            break;
        }
        p += scalar.length;
    }
    while (p < end && (*p == '\r' || *p == '\n')) {
        p++;
    }
    return p;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ where white space begins at p */
static const uint8_t *skip_spaces(const uint8_t *p, const uint8_t *end) {
    const uint8_t *after_newline = NULL;
    const uint8_t *last = p;
    const uint8_t *at = p;
    while (at < end) {
        const unicode_scalar scalar = unicode_decode(at, end);
        const unsigned kind = unicode_class(scalar.point) & UNICODE_KIND;
        if (kind != KIND_SPACE && kind != KIND_NEWLINE) {
            break;
        }
        last = at;
        at += scalar.length;
        if (kind == KIND_NEWLINE) {
            after_newline = at;
        }
    }
    if (after_newline) {
        return after_newline;
    }
    return at < end && last > p ? last : at;
}

/* (?i:'s|'t|'re|'ve|'m|'ll|'d), p being at the apostrophe: its end, or p where there is none. */
static const uint8_t *skip_contraction(const uint8_t *p, const uint8_t *end) {
    const size_t left = (size_t)(end - p);
    const unsigned first = left > 1 ? p[1] | 0x20u : 0;
    const unsigned second = left > 2 ? p[2] | 0x20u : 0;
    if (left > 1 && p[1] < 0x80) {
        if (first == 's' || first == 't' || first == 'm' || first == 'd') {
            return p + 2;
        }
        if (left > 2 && p[2] < 0x80 &&
            (((first == 'r' || first == 'v') && second == 'e') ||
             (first == 'l' && second == 'l'))) {
            return p + 3;
        }
    }
    /* the long s, U+017F, folds to s */
    return left > 2 && p[1] == 0xc5 && p[2] == 0xbf ? p + 3 : p;
}

const uint8_t *pieces_next(const uint8_t *p, const uint8_t *end) {
    const unicode_scalar first = unicode_decode(p, end);
    const unsigned kind = unicode_class(first.point) & UNICODE_KIND;
    const uint8_t *const rest = p + first.length;
    if (kind == KIND_LETTER) {
        return skip_letters(rest, end);
    }
    if (kind == KIND_NUMBER) {
        return rest;
    }
    if (kind == KIND_NEWLINE) {
        return skip_spaces(p, end);
    }
    if (*p == '\'') {
        const uint8_t *const contraction = skip_contraction(p, end);
        if (contraction > p) {
            return contraction;
        }
    }
    const uint8_t *const letters = skip_letters(rest, end);
    if (letters > rest) {
        return letters;
    }
    if (kind == KIND_OTHER) {
        return skip_others(rest, end);
    }
    if (*p == ' ') {
        if (rest < end) {
            const unicode_scalar second = unicode_decode(rest, end);
            if ((unicode_class(second.point) & UNICODE_KIND) == KIND_OTHER) {
                return skip_others(rest, end);
            }
        }
    }
    return skip_spaces(p, end);
}
