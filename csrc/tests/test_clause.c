#include <string.h>

#include "check.h"
#include "clause.h"
#include "rng.h"
#include "toy_lexicon.h"

static const toy_entry entries[] = {
    {"I", "aɪ", 0, {{0, NULL}}},
    {"US", "ˌuːˈɛs", 0, {{CONTEXT_ALONE, "uːˈɛs"}}},
    {"a", "ɐ", FLAG_EXPECTS_NOUN, {{CONTEXT_END, "ˈeɪ"}}},
    {"and", "ænd", FLAG_PAUSES, {{0, NULL}}},
    {"at", "æt", FLAG_OPENS_PHRASE, {{0, NULL}}},
    {"at a", "æɾə", 0, {{0, NULL}}},
    {"at all", "æɾˈɑːl", FLAG_AT_END, {{0, NULL}}},
    {"bed", "bˈɛd", 0, {{0, NULL}}},
    {"better", "bˈɛɾɚ", 0, {{0, NULL}}},
    {"had", "hˌæd", FLAG_EXPECTS_PAST, {{0, NULL}}},
    {"known", "nˈoʊn", 0, {{0, NULL}}},
    {"on", "ˌɑːn", 0, {{CONTEXT_TAIL, "ˈɑːn"}}},
    {"over-all", "ˌoʊvɚɹˈɑːl", 0, {{0, NULL}}},
    {"permit", "pɚmˈɪt", 0, {{CONTEXT_NOUN, "pˈʌmɪt"}, {CONTEXT_PAST, "pɐmɪt"}}},
    {"rest", "ɹˈɛst", 0, {{0, NULL}}},
    {"sofa", "sˈoʊfə", 0, {{0, NULL}}},
    {"some", "sˌʌm", 0, {{CONTEXT_AFTER_WEAK, "səm"}}},
    {"the", "ðə", 0, {{CONTEXT_BEFORE_VOWEL, "ðɪ"}, {CONTEXT_ALONE, "ðˈə"}}},
    {"to", "tə", FLAG_EXPECTS_VERB, {{CONTEXT_BEFORE_VOWEL, "tʊ"}, {CONTEXT_END, "tˈuː"}}},
    {"us", "ˌʌs", 0, {{CONTEXT_END, "ˈʌs"}}},
};
enum { N = sizeof entries / sizeof *entries, WORDS = 64 };

static lexicon shared;
static const lexicon_entry unknown = {.base = {(const uint8_t *)"ˈʌ", 4, false}};

/* What the machine makes of words; `speak` returns a string that the caller frees. */
static char *speak(const clause_word *words, size_t n, bool loud) {
    clause_unit *units = malloc((n > 0 ? n : 1) * sizeof *units);
    CHECK(units);
    clause work = {.lexicon = &shared, .words = words, .n_words = n, .units = units,
                   .loud = loud};
    while (!clause_gather(&work)) {
        if (work.words[work.at].text[0] == '?') {
            work.at++;
        } else {
            clause_add(&work, &unknown);
        }
    }
    clause_choose(&work);
    const size_t room = clause_room(&work);
    uint8_t *out = malloc(room > 0 ? room : 1);
    CHECK(out);
    const size_t size = clause_speak(&work, out);
    char *text = malloc(size + 1);
    CHECK(text && size <= room);
    memcpy(text, out, size);
    text[size] = 0;
    free(out);
    free(units);
    return text;
}

static void check(const char *line, bool loud, const char *expected) {
    char lower[256];
    clause_word words[WORDS];
    const size_t n = clause_split(line, strlen(line), lower, words);
    char *found = speak(words, n, loud);
    if (strcmp(found, expected) != 0) {
        fprintf(stderr, "%s: %s, not %s\n", line, found, expected);
        exit(1);
    }
    free(found);
}

static void check_marks(void) {
    clause_word words[] = {
        {"sofa", "sofa", 4, 4, WORD_APART}, {"and", "and", 3, 3, WORD_APART},
        {"to", "to", 2, 2, 0},              {"on", "on", 2, 2, WORD_APART},
        {"at", "at", 2, 2, 0},              {"a", "a", 1, 1, WORD_APART},
    };
    char *found = speak(words, 6, false);
    CHECK(strcmp(found, "sˈoʊfə ænd tʊ ˌɑːn æt ˈeɪ") == 0);
    free(found);
    words[1] = (clause_word){"?", "?", 1, 1, 0};
    found = speak(words, 3, false);
    CHECK(strcmp(found, "sˈoʊfə tˈuː") == 0);
    free(found);
}

static void check_split(void) {
    const char *line = " Don't over-all  US A ";
    char lower[32];
    clause_word words[12];
    CHECK(clause_split(line, strlen(line), lower, words) == 5);
    CHECK(words[0].n == 5 && memcmp(words[0].lower, "don't", 5) == 0 && words[0].marks == 0);
    CHECK(words[1].text == line + 7 && words[1].n_lower == 4 && words[1].marks == WORD_HYPHEN);
    CHECK(words[2].marks == WORD_GLUED && words[3].marks == 0);
    CHECK(words[4].n == 1 && words[4].marks == 0);
    CHECK(clause_split("", 0, lower, words) == 0 && clause_split("  ", 2, lower, words) == 0);
}

/* Any words in any order: the bytes stay within what clause_choose asked for. */
static void check_drawn(void) {
    rng_state random;
    rng_seed(&random, 7);
    for (int round = 0; round < 5000; round++) {
        float draws[2 * WORDS + 1];
        clause_word words[WORDS];
        rng_uniform(&random, 2 * WORDS + 1, draws);
        const size_t n = (size_t)(draws[2 * WORDS] * WORDS);
        for (size_t i = 0; i < n; i++) {
            const size_t at = (size_t)(draws[2 * i] * (N + 2));
            const char *text = at < N ? entries[at].key : at == N ? "?" : "zz";
            const unsigned marks = (unsigned)(draws[2 * i + 1] * 96);
            words[i] = (clause_word){text, text, strlen(text), strlen(text),
                                     marks < 64 ? marks : 0};
        }
        free(speak(words, n, round % 2));
    }
}

int main(void) {
    static uint8_t blob[TOY_ROOM];
    const size_t size = toy_lexicon(entries, N, blob);
    uint64_t index[N];
    CHECK(lexicon_open(&shared, blob, size, index) == STATUS_OK);
    check("", false, "");
    check("bed", false, "bˈɛd");
    check("the", false, "ðˈə");
    check("The sofa", false, "ðə sˈoʊfə");
    check("the on", false, "ðɪ ˌɑːn");
    check("a permit to permit", false, "ɐ pˈʌmɪt tə pɚmˈɪt");
    check("a bed permit", false, "ɐ bˈɛd pɚmˈɪt");
    check("had bed permit", false, "hˌæd bˈɛd pɐmɪt");
    check("had bed bed permit", false, "hˌæd bˈɛd bˈɛd pɚmˈɪt");
    check("bed on the", false, "bˈɛd ˈɑːn ðə");
    check("on the bed", false, "ˌɑːn ðə bˈɛd");
    check("at all", false, "æɾˈɑːl");
    check("at all bed", false, "æt ˈʌ bˈɛd");
    check("at a bed", false, "æɾə bˈɛd");
    check("at A bed", false, "æɾə bˈɛd");
    check("over-all", false, "ˌoʊvɚɹˈɑːl");
    check("better-known bed", false, "bˈɛtɚnˈoʊn bˈɛd");
    check("better I", false, "bˈɛɾɚɹ aɪ");
    check("sofa rest", false, "sˈoʊfɚ ɹˈɛst");
    check("better some bed", false, "bˈɛɾɚ səm bˈɛd");
    check("bed some bed", false, "bˈɛd sˌʌm bˈɛd");
    check("bed to and to", false, "bˈɛd tʊ ænd tˈuː");
    check("US", false, "uːˈɛs");
    check("BED US", true, "bˈɛd ˈʌs");
    check_marks();
    check_split();
    check_drawn();
    return 0;
}
