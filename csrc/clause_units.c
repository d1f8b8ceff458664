/* Words to units: hyphen chains, phrases, capitals. */
#include <string.h>

#include "clause.h"

enum { MAX_PHRASE = 4, MAX_CHAIN = 6 };

size_t clause_split(const char *line, size_t n, char *lower, clause_word *words) {
    size_t n_words = 0;
    for (size_t at = 0; at < n;) {
        const size_t start = at;
        for (; at < n && line[at] != ' ' && line[at] != '-'; at++) {
            const bool capital = line[at] >= 'A' && line[at] <= 'Z';
            lower[at] = capital ? (char)(line[at] | 0x20) : line[at];
        }
        const size_t size = at - start;
        if (size > 0) {
            const unsigned marks = (start > 0 && line[start - 1] == '-' ? WORD_GLUED : 0) |
                                   (at < n && line[at] == '-' ? WORD_HYPHEN : 0);
            words[n_words++] = (clause_word){line + start, lower + start, size, size, marks};
        }
        at++;
    }
    return n_words;
}

/* A key of the lexicon that is put together from words; too long a one is not in it. */
typedef struct {
    char text[LEXICON_MAX_KEY];
    size_t n;
    bool fits;
} lexicon_key;

static void key_append(lexicon_key *key, const char *text, size_t n) {
    key->fits = key->fits && n <= sizeof key->text - key->n;
    if (key->fits) {
        memcpy(key->text + key->n, text, n);
        key->n += n;
    }
}

/* A hyphen chain that the lexicon holds as one word; the number of words it takes. */
static size_t find_chain(const clause *from, lexicon_entry *entry) {
    const clause_word *words = from->words + from->at;
    const size_t left = from->n_words - from->at;
    size_t n = 1;
    while (n < left && words[n].marks & WORD_GLUED && n <= MAX_CHAIN) {
        n++;
    }
    if (n == 1 || n > MAX_CHAIN || words[0].marks & WORD_GLUED) {
        return 0;
    }
    lexicon_key key = {.n = 0, .fits = true};
    for (size_t i = 0; i < n; i++) {
        key_append(&key, "-", i > 0);
        key_append(&key, words[i].lower, words[i].n_lower);
    }
    return key.fits && lexicon_find(from->lexicon, key.text, key.n, entry) ? n : 0;
}

/* CEOs, FBI's: capitals with an ending, which are no word in lower case. */
static bool is_plural_of_capitals(const clause_word *word) {
    size_t n = 0;
    while (n < word->n && word->text[n] >= 'A' && word->text[n] <= 'Z') {
        n++;
    }
    const size_t ending = word->n - n;
    return n >= 2 && ((ending == 1 && word->text[n] == 's') ||
                      (ending == 2 && memcmp(word->text + n, "'s", 2) == 0));
}

/* Initials that end a clause are spelt, whatever they are elsewhere. */
static bool is_spelt(const clause *from) {
    const clause_word *word = from->words + from->at;
    return from->at + 1 == from->n_words && memchr(word->text, '.', word->n) != NULL;
}

static bool find_word(const clause *from, const clause_word *word, lexicon_entry *entry) {
    lexicon_entry lower;
    lexicon_form form;
    const bool found = lexicon_find(from->lexicon, word->text, word->n, entry);
    if (found && !(from->loud && lexicon_entry_form(entry, CONTEXT_ALONE, &form))) {
        return true;
    }
    if (!found && is_plural_of_capitals(word)) {
        return false;
    }
    if (lexicon_find(from->lexicon, word->lower, word->n_lower, &lower)) {
        *entry = lower;
        return true;
    }
    return found;
}

/* Whether more than a space or a single hyphen stands between a word and the one before it. */
static bool is_cut(const clause_word *word) {
    return word->marks & WORD_APART ||
           (word[-1].marks & WORD_HYPHEN && !(word->marks & WORD_GLUED));
}

static void append_phrase_word(lexicon_key *key, const clause_word *word) {
    const bool keeps_case = word->n == 1 && word->text[0] == 'I';
    key_append(key, keeps_case ? word->text : word->lower, keeps_case ? word->n : word->n_lower);
}

/* The longest phrase that the lexicon holds from here on; the number of words it takes. */
static size_t find_phrase(const clause *from, lexicon_entry *entry) {
    const clause_word *words = from->words + from->at;
    const size_t left = from->n_words - from->at;
    lexicon_key key = {.n = 0, .fits = true};
    size_t ends[MAX_PHRASE];
    size_t n = 0;
    for (; n < left && n < MAX_PHRASE && key.fits; n++) {
        if (n > 0 && is_cut(words + n)) {
            break;
        }
        key_append(&key, " ", n > 0);
        append_phrase_word(&key, words + n);
        ends[n] = key.n;
    }
    for (n -= !key.fits; n > 1; n--) {
        lexicon_entry phrase;
        if (lexicon_find(from->lexicon, key.text, ends[n - 1], &phrase) &&
            (!(phrase.flags & FLAG_AT_END) ||
             (n == left && !(words[n - 1].marks & WORD_CLOSED)))) {
            *entry = phrase;
            return n;
        }
    }
    return 1;
}

static void add_unit(clause *to, const lexicon_entry *entry, size_t n) {
    const unsigned marks = to->words[to->at].marks;
    to->units[to->n_units] = (clause_unit){
        .entry = *entry,
        .glued = marks & WORD_GLUED && to->n_units > 0,
        .first = (uint8_t)marks,
        .last = (uint8_t)to->words[to->at + n - 1].marks,
        .words = (uint8_t)n,
    };
    to->n_units++;
    to->at += n;
}

void clause_add(clause *to, const lexicon_entry *entry) {
    lexicon_entry found = *entry;
    const size_t n = entry->flags & FLAG_OPENS_PHRASE ? find_phrase(to, &found) : 1;
    add_unit(to, &found, n);
}

bool clause_gather(clause *to) {
    while (to->at < to->n_words) {
        lexicon_entry entry;
        if (is_spelt(to)) {
            return false;
        }
        const size_t chain = find_chain(to, &entry);
        if (chain > 0) {
            add_unit(to, &entry, chain);
        } else if (find_word(to, to->words + to->at, &entry)) {
            clause_add(to, &entry);
        } else {
            return false;
        }
    }
    return true;
}
