#include "pieces.h"

#include <string.h>

#include "check.h"
#include "rng.h"
#include "unicode.h"

/* The text's pieces with a bar between them, on a heap block of exactly its size. */
static void check_pieces(const char *expected) {
    char text[256];
    size_t n = 0;
    for (const char *c = expected; *c; c++) {
        if (*c != '|') {
            text[n++] = *c;
        }
    }
    uint8_t *const copy = malloc(n > 0 ? n : 1);
    CHECK(copy);
    memcpy(copy, text, n);
    char found[512];
    size_t length = 0;
    for (const uint8_t *p = copy; p < copy + n;) {
        const uint8_t *const after = pieces_next(p, copy + n);
        if (p > copy) {
            found[length++] = '|';
        }
        memcpy(found + length, p, (size_t)(after - p));
        length += (size_t)(after - p);
        p = after;
    }
    found[length] = 0;
    if (strcmp(found, expected) != 0) {
        fprintf(stderr, "expected %s\nfound    %s\n", expected, found);
        exit(1);
    }
    free(copy);
}

static void check_garbage(void) {
    rng_state rng;
    rng_seed(&rng, 1);
    for (size_t round = 0; round < 20000; round++) {
        float draws[41];
        rng_uniform(&rng, 41, draws);
        const size_t n = 1 + (size_t)(draws[40] * 39.0f);
        uint8_t *const text = malloc(n);
        CHECK(text);
        for (size_t i = 0; i < n; i++) {
            text[i] = (uint8_t)(draws[i] * 256.0f);
        }
        for (const uint8_t *p = text; p < text + n;) {
            const uint8_t *const after = pieces_next(p, text + n);
            CHECK(after > p && after <= text + n);
            p = after;
        }
        unicode_is_nfc(text, n);
        free(text);
    }
}

/* Where the short word is told, it is the piece. */
static void check_short_words(void) {
    static const char characters[] = "abzAZ@[`{'1 \n\t.\xc3\xa9";
    rng_state rng;
    rng_seed(&rng, 2);
    size_t n_told = 0;
    for (size_t round = 0; round < 200000; round++) {
        float draws[9];
        uint8_t text[8];
        uint64_t bytes;
        rng_uniform(&rng, 9, draws);
        const size_t plain = (size_t)(draws[8] * 12.0f); /* so many letters at least */
        for (size_t i = 0; i < 8; i++) {
            const size_t n = i > 0 && i < plain ? 5 : sizeof characters - 1;
            text[i] = (uint8_t)characters[(size_t)(draws[i] * (float)n)];
        }
        memcpy(&bytes, text, sizeof bytes);
        const unsigned length = pieces_short_word(bytes);
        CHECK(length == 0 || pieces_next(text, text + 8) == text + length);
        n_told += length > 0;
    }
    CHECK(n_told > 50000);
}

int main(void) {
    check_pieces("");
    check_pieces("Hello| world|!");
    check_pieces("it|'s| I|'LL| we|'Ve| he|'d|n|'t|'re|'m| '\"'");
    check_pieces("'s|omething|'x|'l| '|l");
    check_pieces("it|'\xc5\xbf| '|\xc5\xbf"); /* the long s folds to s */
    check_pieces("2|0|2|4|年| |1|2|a");
    check_pieces("你好|，世界|。\n\n|再见");
    check_pieces("a| | b|\t|\tc");
    check_pieces("a|  \n \r\n|  | b|  ");
    check_pieces("\n| a|\r\n");
    check_pieces("(a|((|b| ((|c|\n");
    check_pieces("\xe3\x80\x80你|\xe3\x80\x80");
    check_pieces("...\r\n\n");
    check_pieces("e|\xcc\x81" "a"); /* a combining mark is no letter */
    check_garbage();
    check_short_words();
    return 0;
}
