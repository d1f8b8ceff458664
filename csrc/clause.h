/* The clause machine: words in, phonemes out, as the words colour each other. */
#ifndef TWINVOX_CLAUSE_H
#define TWINVOX_CLAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lexicon.h"

enum {
    WORD_GLUED = 1,    /* only a hyphen stands before it */
    WORD_APART = 2,    /* a quote, bracket or dash stands before it */
    WORD_HYPHEN = 4,   /* a hyphen stands right behind it */
    WORD_CLOSED = 8,   /* a quote or bracket stands between it and the end of the clause */
    WORD_QUOTED = 16,  /* a double quote or bracket stands before it */
};

/* A word as it is written and in lower case, UTF-8. */
typedef struct {
    const char *text, *lower;
    size_t n, n_lower;
    unsigned marks;
} clause_word;

/* A word or a phrase of the lexicon in its place in the clause. */
typedef struct {
    lexicon_entry entry;
    lexicon_form form;       /* as stress and homographs choose it */
    uint8_t *start, *end;    /* as it is spoken, in the buffer of clause_speak */
    uint8_t context;         /* what the words before it let expect, CONTEXT_MID where nothing */
    bool glued;              /* to the unit before it */
    bool pause;              /* before it */
    uint8_t first, last;     /* the marks of its first and of its last word */
    uint8_t words;
} clause_unit;

/* words [n_words] and units [n_words] belong to the caller; begin with n_units = at = 0. */
typedef struct {
    const lexicon *lexicon;
    const clause_word *words;
    size_t n_words;
    clause_unit *units;
    size_t n_units;
    size_t at;  /* the next word */
    bool loud;  /* capitals are no sign of an abbreviation */
} clause;

/* Splits a plain line of n ASCII bytes (letters, apostrophes, spaces, hyphens; one character
 * between two words) into words [(n + 1) / 2], writing it in lower case to lower [n]; how many. */
size_t clause_split(const char *line, size_t n, char *lower, clause_word *words);

/* Finds the units of the words from clause->at on. False where the lexicon cannot tell how the
 * word at clause->at is spoken: give its entry to clause_add, or pass over it with clause->at++,
 * and call again. */
bool clause_gather(clause *clause);

/* Takes an entry for the word at clause->at, which may open a phrase. */
void clause_add(clause *clause, const lexicon_entry *entry);

/* Chooses the form of every unit by its place. */
void clause_choose(clause *clause);

/* The bytes that clause_speak needs of out. */
size_t clause_room(const clause *clause);

/* Writes the phonemes of the units to out; the bytes of them. */
size_t clause_speak(clause *clause, uint8_t *out);

#endif
