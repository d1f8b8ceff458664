#include "check.h"
#include "lexicon.h"
#include "rng.h"
#include "toy_lexicon.h"

static const toy_entry entries[] = {
    {"Polish", "pˈoʊlɪs", 0, {{0, NULL}}},
    {"a", "ɐ", 4, {{CONTEXT_END, "ˈeɪ"}, {CONTEXT_BEFORE_VOWEL, "ɐn"}}},
    {"abandon", "ɐbˈændən", 0, {{0, NULL}}},
    {"abandoned", "ɐbˈændənd", 0, {{0, NULL}}},
    {"internal", "ɪntˈɛnəl", 0, {{0, NULL}}},
    {"internal affair", "ɪntˈɛnəl ɐfˈɛɹ", 0, {{0, NULL}}},
    {"internalize", "ɪntˈɛnəlaɪz", 0, {{0, NULL}}},
    {"internals", "ɪntˈɛnəlz", 0, {{0, NULL}}},
    {"internation", "ɪntɚnˈeɪsn", 0, {{0, NULL}}},
    {"to", "tə", 1 | 512, {{CONTEXT_BEFORE_VOWEL, "tʊ"}}},
    {"to be", "təbi", 8, {{0, NULL}}},
    {"tow", "tˈoʊ", 0, {{0, NULL}}},
};
enum { N = sizeof entries / sizeof *entries };

static bool reads(const lexicon *from, const lexicon_form *form, const char *expected) {
    uint8_t out[64];
    const size_t n = lexicon_form_size(from, form);
    CHECK(n <= sizeof out && lexicon_spell(from, form, out) == out + n);
    const bool equal = n == strlen(expected) && memcmp(out, expected, n) == 0;
    CHECK(lexicon_form_equals(from, form, (const uint8_t *)expected, strlen(expected)) == equal);
    return equal;
}

/* Opens a copy on the heap of exactly that size, so that AddressSanitizer sees every overrun. */
static uint8_t *open_copy(const uint8_t *blob, size_t size, lexicon *out, uint64_t **index,
                          status *opened) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    CHECK(copy);
    memcpy(copy, blob, size);
    const size_t n_blocks = lexicon_blocks(copy, size);
    *index = malloc((n_blocks > 0 ? n_blocks : 1) * sizeof **index);
    CHECK(*index);
    *opened = lexicon_open(out, copy, size, *index);
    return copy;
}

static void check_found(const lexicon *from) {
    CHECK(from->n_entries == N);
    for (size_t i = 0; i < N; i++) {
        lexicon_entry entry;
        lexicon_form form;
        CHECK(lexicon_find(from, entries[i].key, strlen(entries[i].key), &entry));
        CHECK(entry.flags == entries[i].flags && reads(from, &entry.base, entries[i].base));
        CHECK(lexicon_form_stressed(from, &entry.base) == (strstr(entries[i].base, "ˈ") != NULL));
        CHECK(!lexicon_entry_form(&entry, CONTEXT_PAST, &form));
        for (size_t f = 0; f < TOY_FORMS && entries[i].forms[f].text; f++) {
            CHECK(lexicon_entry_form(&entry, entries[i].forms[f].context, &form));
            CHECK(reads(from, &form, entries[i].forms[f].text));
            CHECK(!reads(from, &form, "zzz") && !reads(from, &form, ""));
        }
    }
    const char *const absent[] = {"", "A", "b", "aband", "abandonee", "abandonf", "internal aff",
                                  "internal affairs", "interna", "internatiom", "internationa",
                                  "to b", "tox", "\x7f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        lexicon_entry entry;
        CHECK(!lexicon_find(from, absent[i], strlen(absent[i]), &entry));
    }
}

static void check_made_elsewhere(const lexicon *from) {
    lexicon_form forms[LEXICON_CONTEXTS] = {{NULL, 0, false}};
    forms[CONTEXT_END] = (lexicon_form){(const uint8_t *)"sˈoʊ", 6, false};
    const lexicon_entry entry = {.base = {(const uint8_t *)"so", 2, false}, .by_context = forms};
    lexicon_form form;
    CHECK(reads(from, &entry.base, "so") && !reads(from, &entry.base, "sa"));
    CHECK(!lexicon_form_stressed(from, &entry.base));
    CHECK(!lexicon_entry_form(&entry, CONTEXT_TAIL, &form));
    CHECK(lexicon_entry_form(&entry, CONTEXT_END, &form) && reads(from, &form, "sˈoʊ"));
    CHECK(lexicon_form_stressed(from, &form));
}

/* Looks up everything that is there and reads what is found. */
static void use(const lexicon *from) {
    for (size_t i = 0; i < N; i++) {
        lexicon_entry entry;
        if (lexicon_find(from, entries[i].key, strlen(entries[i].key), &entry)) {
            lexicon_form form = entry.base;
            for (unsigned context = 0; context < LEXICON_CONTEXTS; context++) {
                uint8_t *out = malloc(lexicon_form_size(from, &form) + 1);
                CHECK(out);
                lexicon_spell(from, &form, out);
                free(out);
                lexicon_form_stressed(from, &form);
                lexicon_form_equals(from, &form, (const uint8_t *)"ab", 2);
                if (!lexicon_entry_form(&entry, context, &form)) {
                    form = entry.base;
                }
            }
        }
    }
}

static void check_truncated(const uint8_t *blob, size_t size) {
    for (size_t n = 0; n < size; n++) {
        lexicon from;
        uint64_t *index;
        status opened;
        uint8_t *copy = open_copy(blob, n, &from, &index, &opened);
        if (opened == STATUS_OK) {
            use(&from);
        }
        free(index);
        free(copy);
    }
}

static void check_corrupt(const uint8_t *blob, size_t size) {
    rng_state random;
    rng_seed(&random, 1);
    size_t n_opened = 0;
    for (int round = 0; round < 20000; round++) {
        uint8_t damaged[TOY_ROOM];
        float draws[8];
        memcpy(damaged, blob, size);
        rng_uniform(&random, 8, draws);
        const size_t n_changes = 1 + (size_t)(draws[0] * 3);
        for (size_t i = 0; i < n_changes; i++) {
            damaged[(size_t)(draws[1 + 2 * i] * (float)size)] = (uint8_t)(draws[2 + 2 * i] * 256);
        }
        lexicon from;
        uint64_t *index;
        status opened;
        uint8_t *copy = open_copy(damaged, size, &from, &index, &opened);
        if (opened == STATUS_OK) {
            n_opened++;
            use(&from);
        }
        free(index);
        free(copy);
    }
    CHECK(n_opened > 1000 && n_opened < 20000);
}

static void check_refused(uint8_t *blob, size_t size) {
    uint64_t index[N];
    lexicon from;
    CHECK(lexicon_blocks(blob, size) == 3 && lexicon_blocks(blob, 15) == 0);
    blob[4] = 2; /* version */
    CHECK(lexicon_blocks(blob, size) == 0);
    CHECK(lexicon_open(&from, blob, size, index) == STATUS_BAD_ARGUMENT);
    blob[4] = 1;
    blob[17] = 0xff; /* the first piece is no UTF-8 */
    CHECK(lexicon_open(&from, blob, size, index) == STATUS_BAD_ARGUMENT);
    blob[17] = 'a';
    memset(blob + 12, 0xff, 4); /* blocks */
    CHECK(lexicon_blocks(blob, size) == 0);
}

int main(void) {
    static uint8_t blob[TOY_ROOM];
    const size_t size = toy_lexicon(entries, N, blob);
    lexicon from;
    uint64_t *index;
    status opened;
    uint8_t *copy = open_copy(blob, size, &from, &index, &opened);
    CHECK(opened == STATUS_OK);
    check_found(&from);
    check_made_elsewhere(&from);
    free(index);
    free(copy);
    check_truncated(blob, size);
    check_corrupt(blob, size);
    check_refused(blob, size);
    return 0;
}
