#include "bpe.h"

#include <string.h>

#include "bpe_files.h"
#include "check.h"
#include "rng.h"
#include "unicode.h"

enum { MAX_TOKENS = 700, CORPUS = 6000, ROOM = 1 << 16 };

/* A vocabulary with the merges that it was trained by. */
typedef struct {
    uint8_t bytes[ROOM];
    uint32_t ends[MAX_TOKENS];
    size_t n;
    int32_t merges[MAX_TOKENS][2];
} vocabulary;

static byte_strings strings_of(const vocabulary *v) {
    return (byte_strings){v->bytes, v->ends, v->n};
}

static unsigned draw(rng_state *rng, unsigned below) {
    float value;
    rng_uniform(rng, 1, &value);
    return (unsigned)(value * (float)below);
}

/* Replaces every pair in turn, from the left; returns how many ids remain. */
static size_t merge(int32_t *ids, size_t n, int32_t left, int32_t right, int32_t id) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const bool found = i + 1 < n && ids[i] == left && ids[i + 1] == right;
        ids[kept++] = found ? id : ids[i];
        i += found;
    }
    return kept;
}

/* The earliest merge that applies, until none does. */
static size_t naive_encode(const vocabulary *v, const uint8_t *text, size_t n, int32_t *ids) {
    for (size_t i = 0; i < n; i++) {
        ids[i] = 0;
        while (v->bytes[ids[i]] != text[i]) {
            ids[i]++;
        }
    }
    for (size_t id = BPE_BYTES; id < v->n; id++) {
        n = merge(ids, n, v->merges[id][0], v->merges[id][1], (int32_t)id);
    }
    return n;
}

/* A random text of the characters, all of n_bytes bytes, the first of them the most frequent;
 * returns its length, n or a little less. */
static size_t random_text(rng_state *rng, const char *characters, size_t n_bytes, uint8_t *text,
                          size_t n) {
    const unsigned n_characters = (unsigned)(strlen(characters) / n_bytes);
    size_t end = 0;
    for (; end + n_bytes <= n; end += n_bytes) {
        const unsigned character = draw(rng, 3) == 0 ? 0 : draw(rng, n_characters);
        memcpy(text + end, characters + character * n_bytes, n_bytes);
    }
    return end;
}

/* A vocabulary of the most frequent pairs of a random text; its bytes come in an order of their
 * own. */
static void train(rng_state *rng, const char *characters, size_t n_bytes, size_t n_tokens,
                  vocabulary *v) {
    static uint32_t counts[MAX_TOKENS][MAX_TOKENS];
    static int32_t ids[CORPUS];
    for (unsigned i = 0; i < BPE_BYTES; i++) {
        v->bytes[i] = (uint8_t)(i * 37 + 11);
        v->ends[i] = i + 1;
    }
    v->n = BPE_BYTES;
    uint8_t text[CORPUS];
    size_t n = random_text(rng, characters, n_bytes, text, CORPUS);
    n = naive_encode(v, text, n, ids);
    while (v->n < n_tokens) {
        memset(counts, 0, sizeof counts);
        uint32_t most = 0;
        int32_t *const best = v->merges[v->n];
        for (size_t i = 0; i + 1 < n; i++) {
            const uint32_t count = ++counts[ids[i]][ids[i + 1]];
            if (count > most) {
                most = count;
                best[0] = ids[i];
                best[1] = ids[i + 1];
            }
        }
        if (most < 2) {
            return;
        }
        uint32_t end = v->ends[v->n - 1];
        for (int side = 0; side < 2; side++) {
            const size_t start = best[side] > 0 ? v->ends[best[side] - 1] : 0;
            const size_t length = v->ends[best[side]] - start;
            memcpy(v->bytes + end, v->bytes + start, length);
            end += (uint32_t)length;
        }
        v->ends[v->n] = end;
        n = merge(ids, n, best[0], best[1], (int32_t)v->n);
        v->n++;
    }
}

/* Letters make one piece, so that the merges decide all; on heap blocks of exactly their size. */
static void check_encoding(const bpe *b, const vocabulary *v, const uint8_t *text, size_t n) {
    uint8_t *const copy = malloc(n > 0 ? n : 1);
    uint64_t *const scratch = malloc(bpe_scratch_words(n) * sizeof *scratch);
    int32_t *const ids = malloc((n > 0 ? n : 1) * sizeof *ids);
    int32_t *const expected = malloc((n > 0 ? n : 1) * sizeof *expected);
    CHECK(copy && scratch && ids && expected);
    memcpy(copy, text, n);
    const size_t count = bpe_encode(b, copy, n, false, scratch, ids);
    CHECK(count == naive_encode(v, text, n, expected));
    CHECK(memcmp(ids, expected, count * sizeof *ids) == 0);
    size_t at;
    CHECK(bpe_decoded_size(b, ids, count, &at) == n);
    bpe_decode(b, ids, count, copy);
    CHECK(memcmp(copy, text, n) == 0);
    free(expected);
    free(ids);
    free(scratch);
    free(copy);
}

static void check_trained(uint64_t seed, const char *characters, size_t n_bytes,
                          size_t n_tokens) {
    static vocabulary v;
    rng_state rng;
    rng_seed(&rng, seed);
    train(&rng, characters, n_bytes, n_tokens, &v);
    const byte_strings tokens = strings_of(&v);
    bpe *b;
    size_t at;
    CHECK(bpe_create(&tokens, &b, &at) == BPE_SOUND);
    CHECK(bpe_size(b) == v.n);
    for (uint32_t id = BPE_BYTES; id < v.n; id++) {
        uint32_t parts[2];
        bpe_parts_of(b, id, parts);
        CHECK((int32_t)parts[0] == v.merges[id][0] && (int32_t)parts[1] == v.merges[id][1]);
    }
    for (size_t round = 0; round < 400; round++) {
        uint8_t text[200];
        const size_t room = draw(&rng, round % 4 == 0 ? 200 : 12 * (unsigned)n_bytes);
        check_encoding(b, &v, text, random_text(&rng, characters, n_bytes, text, room));
    }
    bpe_destroy(b);
}

static void check_specials(void) {
    static vocabulary v;
    rng_state rng;
    rng_seed(&rng, 5);
    train(&rng, "ab", 1, 300, &v);
    const byte_strings tokens = strings_of(&v);
    bpe *b;
    size_t at;
    CHECK(bpe_create(&tokens, &b, &at) == BPE_SOUND);
    const uint32_t ends[] = {3, 7};
    const byte_strings specials = {(const uint8_t *)"<a><a>b", ends, 2};
    const int32_t not_ascending[] = {400, 400};
    const int32_t of_the_vocabulary[] = {299, 400};
    CHECK(bpe_set_specials(b, &specials, not_ascending, &at) == BPE_BAD_SPECIAL_ID && at == 1);
    CHECK(bpe_set_specials(b, &specials, of_the_vocabulary, &at) == BPE_BAD_SPECIAL_ID && at == 0);
    const int32_t ids[] = {300, 2000000000};
    const uint32_t same_ends[] = {3, 6};
    const byte_strings same = {specials.bytes, same_ends, 2};
    CHECK(bpe_set_specials(b, &same, ids, &at) == BPE_REPEATED && at == 1);
    CHECK(bpe_set_specials(b, &specials, ids, &at) == BPE_SOUND);
    CHECK(bpe_set_specials(b, &specials, ids, &at) == BPE_SOUND);
    uint64_t scratch[2];
    int32_t out[16];
    const uint8_t text[] = "<a><a>b<a";
    size_t n = bpe_encode(b, text, 9, true, scratch, out);
    CHECK(n == 4 && out[0] == 300 && out[1] == 2000000000);
    CHECK(bpe_decoded_size(b, out, n, &at) == 9);
    uint8_t back[9];
    bpe_decode(b, out, n, back);
    CHECK(memcmp(back, text, 9) == 0);
    n = bpe_encode(b, text, 9, false, scratch, out);
    for (size_t i = 0; i < n; i++) {
        CHECK(out[i] < 300);
    }
    const int32_t unknown[] = {-1, 301, 1999999999, INT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        CHECK(bpe_decoded_size(b, &unknown[i], 1, &at) == SIZE_MAX && at == 0);
    }
    bpe_destroy(b);
}

static void check_bad_vocabularies(void) {
    static vocabulary v;
    rng_state rng;
    rng_seed(&rng, 6);
    train(&rng, "abc", 1, 300, &v);
    byte_strings tokens = strings_of(&v);
    bpe *b;
    size_t at;
    for (size_t n = 0; n < BPE_BYTES; n += 51) {
        tokens.n = n;
        CHECK(bpe_create(&tokens, &b, &at) == BPE_NO_BYTE && b == NULL);
    }
    CHECK(at == (uint8_t)(255 * 37 + 11));
    const uint32_t end = v.ends[v.n - 1];
    v.bytes[end] = 'x';
    v.bytes[end + 1] = 'y';
    v.ends[v.n] = end + 2;
    tokens.n = v.n + 1;
    CHECK(bpe_create(&tokens, &b, &at) == BPE_SOUND);
    bpe_destroy(b);
    v.bytes[end + 2] = 'z'; /* to which neither xy nor yz leads, as they are no tokens */
    v.ends[v.n] = end + 3;
    CHECK(bpe_create(&tokens, &b, &at) == BPE_NO_PARTS && at == v.n);
    v.ends[v.n] = end;
    CHECK(bpe_create(&tokens, &b, &at) == BPE_BAD_LENGTH && at == v.n);
    memcpy(v.bytes + end, v.bytes + 256, v.ends[256] - 256);
    v.ends[v.n] = end + v.ends[256] - 256;
    CHECK(bpe_create(&tokens, &b, &at) == BPE_REPEATED);
}

static size_t append(char *file, size_t n, const char *text) {
    memcpy(file + n, text, strlen(text));
    return n + strlen(text);
}

/* The byte as the character, in UTF-8, that stands for it in GPT-2's alphabet. */
static size_t append_alphabet(char *file, size_t n, uint8_t byte) {
    unsigned others = 0;
    for (unsigned b = 0; b <= byte; b++) {
        const bool visible = (b >= '!' && b <= '~') || (b >= 0xa1 && b != 0xad);
        if (b == byte && visible && byte < 0x80) {
            file[n] = (char)byte;
            return n + 1;
        }
        if (b == byte) {
            const unsigned point = visible ? byte : 256 + others;
            file[n] = (char)(0xc0 | point >> 6);
            file[n + 1] = (char)(0x80 | (point & 0x3f));
            return n + 2;
        }
        others += !visible;
    }
    return n;
}

static size_t append_token(char *file, size_t n, const vocabulary *v, size_t id, bool json) {
    for (size_t i = id > 0 ? v->ends[id - 1] : 0; i < v->ends[id]; i++) {
        if (json && (v->bytes[i] == '"' || v->bytes[i] == '\\')) {
            file[n++] = '\\';
        }
        n = append_alphabet(file, n, v->bytes[i]);
    }
    return n;
}

static size_t write_tiktoken(const vocabulary *v, char *file) {
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (size_t id = 0; id < v->n; id++) {
        for (size_t i = id > 0 ? v->ends[id - 1] : 0; i < v->ends[id]; i += 3) {
            const size_t left = v->ends[id] - i;
            const uint32_t bits = (uint32_t)v->bytes[i] << 16 |
                                  (left > 1 ? (uint32_t)v->bytes[i + 1] << 8 : 0) |
                                  (left > 2 ? v->bytes[i + 2] : 0);
            for (size_t k = 0; k < 4; k++) {
                file[n++] = k > left ? '=' : digits[bits >> (18 - 6 * k) & 63];
            }
        }
        n += (size_t)sprintf(file + n, " %zu\n", id);
    }
    return n;
}

static size_t write_json(const vocabulary *v, char *file) {
    size_t n = append(file, 0, "{");
    for (size_t id = v->n; id-- > 0;) {
        n = append(file, n, "\"");
        n = append_token(file, n, v, id, true);
        n += (size_t)sprintf(file + n, "\" : %zu%s", id, id > 0 ? ", " : "}\n");
    }
    return n;
}

static size_t write_merges(const vocabulary *v, char *file) {
    size_t n = append(file, 0, "#version: 0.2\n");
    for (size_t id = BPE_BYTES; id < v->n; id++) {
        n = append_token(file, n, v, (size_t)v->merges[id][0], false);
        n = append(file, n, " ");
        n = append_token(file, n, v, (size_t)v->merges[id][1], false);
        n = append(file, n, "\n");
    }
    return n;
}

/* Loads the file from a heap block of exactly its size. */
static bpe_fault load(bpe_format format, const char *file, size_t n, bpe **b, size_t *at) {
    uint8_t *const copy = malloc(n > 0 ? n : 1);
    CHECK(copy);
    memcpy(copy, file, n);
    const bpe_fault fault = bpe_load(format, copy, n, b, at);
    free(copy);
    CHECK((fault == BPE_SOUND) == (*b != NULL));
    CHECK(bpe_fault_format(fault) != NULL);
    return fault;
}

static void check_files(void) {
    static vocabulary v;
    static char files[2][ROOM];
    static char merges[ROOM];
    rng_state rng;
    rng_seed(&rng, 7);
    train(&rng, "\"\\ \xc3\xa9", 1, 320, &v);
    const size_t sizes[2] = {write_tiktoken(&v, files[BPE_TIKTOKEN]),
                             write_json(&v, files[BPE_VOCAB_JSON])};
    const size_t n_merges = write_merges(&v, merges);
    bpe *b;
    size_t at;
    for (int format = 0; format < 2; format++) {
        CHECK(load((bpe_format)format, files[format], sizes[format], &b, &at) == BPE_SOUND);
        CHECK(bpe_size(b) == v.n);
        for (size_t id = 0; id < v.n; id++) {
            size_t length;
            const uint8_t *const bytes = bpe_token_bytes(b, (int32_t)id, &length);
            const size_t start = id > 0 ? v.ends[id - 1] : 0;
            CHECK(length == v.ends[id] - start && memcmp(bytes, v.bytes + start, length) == 0);
        }
        CHECK(bpe_check_merges(b, (uint8_t *)merges, n_merges, &at) == BPE_SOUND);
        for (size_t n = 0; n + 1 < n_merges; n++) {
            uint8_t *const copy = malloc(n > 0 ? n : 1);
            CHECK(copy);
            memcpy(copy, merges, n);
            CHECK(bpe_check_merges(b, copy, n, &at) != BPE_SOUND);
            free(copy);
        }
        bpe_destroy(b);
        /* cut short */
        for (size_t n = 0; n < sizes[format]; n += 1 + n % 3) {
            bpe_destroy((load((bpe_format)format, files[format], n, &b, &at), b));
            CHECK(b == NULL || format == BPE_TIKTOKEN || n + 1 == sizes[format]);
        }
        /* one byte changed: whatever it means, a table that can be used or a fault */
        for (size_t round = 0; round < 3000; round++) {
            char *const byte = &files[format][draw(&rng, (unsigned)sizes[format])];
            const char before = *byte;
            *byte = (char)draw(&rng, 256);
            if (load((bpe_format)format, files[format], sizes[format], &b, &at) == BPE_SOUND) {
                uint64_t scratch[1];
                int32_t ids[9];
                CHECK(bpe_encode(b, (const uint8_t *)"\xc3\xa9\" \\\xc3\xa9\"", 7, false, scratch,
                                 ids) > 0);
                bpe_destroy(b);
            }
            *byte = before;
        }
    }
}

static bpe_fault load_text(bpe_format format, const char *text, size_t *at) {
    bpe *b;
    const bpe_fault fault = load(format, text, strlen(text), &b, at);
    bpe_destroy(b);
    return fault;
}

static void check_faults(void) {
    size_t at;
    CHECK(load_text(BPE_TIKTOKEN, "QQ== 0\nQ 1\n", &at) == BPE_BAD_LINE && at == 2);
    CHECK(load_text(BPE_TIKTOKEN, "QR== 0\n", &at) == BPE_BAD_LINE && at == 1);
    CHECK(load_text(BPE_TIKTOKEN, "QQ==0\n", &at) == BPE_BAD_LINE && at == 1);
    CHECK(load_text(BPE_TIKTOKEN, "QQ== -1\n", &at) == BPE_BAD_LINE_ID && at == 1);
    CHECK(load_text(BPE_TIKTOKEN, "\nQQ== 99999999999\n", &at) == BPE_BAD_LINE_ID && at == 2);
    CHECK(load_text(BPE_TIKTOKEN, "QQ== 0\nQg== 0\n", &at) == BPE_REPEATED_ID && at == 0);
    CHECK(load_text(BPE_TIKTOKEN, "QQ== 0\nQg== 2\n", &at) == BPE_MISSING_ID && at == 1);
    CHECK(load_text(BPE_TIKTOKEN, " 0\n", &at) == BPE_BAD_LENGTH && at == 0);
    CHECK(load_text(BPE_TIKTOKEN, "QQ== 0\r\n", &at) == BPE_NO_BYTE);
    CHECK(load_text(BPE_TIKTOKEN, "", &at) == BPE_NO_BYTE && at == 0);
    CHECK(load_text(BPE_VOCAB_JSON, "[]", &at) == BPE_BAD_JSON && at == 0);
    CHECK(load_text(BPE_VOCAB_JSON, " {}", &at) == BPE_BAD_JSON && at == 2);
    CHECK(load_text(BPE_VOCAB_JSON, "{\"a\": 0} x", &at) == BPE_BAD_JSON && at == 9);
    CHECK(load_text(BPE_VOCAB_JSON, "{\"\\n\": 0}", &at) == BPE_BAD_JSON && at == 1);
    CHECK(load_text(BPE_VOCAB_JSON, "{\"你\": 0}", &at) == BPE_BAD_JSON && at == 1);
    CHECK(load_text(BPE_VOCAB_JSON, "{\"a\": 0.5}", &at) == BPE_BAD_JSON && at == 7);
    CHECK(load_text(BPE_VOCAB_JSON, "{\"a\": \"0\"}", &at) == BPE_BAD_JSON_ID && at == 6);
    CHECK(load_text(BPE_VOCAB_JSON, "{\"\": 0}", &at) == BPE_BAD_LENGTH && at == 0);
    CHECK(load_text(BPE_VOCAB_JSON, "{\"\\u0120\": 0, \"\\u0041\": 0}", &at) == BPE_REPEATED_ID);
}

int main(void) {
    for (uint64_t seed = 0; seed < 6; seed++) {
        check_trained(seed, "ab", 1, 700);
        check_trained(seed, "abcdefgh", 1, 700);
        check_trained(seed, "a", 1, 262);
        /* merges within characters and across their borders */
        check_trained(seed, "éèéñ", 2, 600);
        check_trained(seed, "中丰串个乭", 3, 600);
        check_trained(seed, "😀😁😂", 4, 500);
    }
    check_specials();
    check_bad_vocabularies();
    check_files();
    check_faults();
    return 0;
}
