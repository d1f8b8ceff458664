/* Units to forms: what each is by its place, its neighbours' stresses and what they expect. */
#include "clause.h"

enum { PAUSE_AFTER = 2 }; /* words behind */

/* The readings that words before a homograph let expect, in the order in which they win, and the
 * flags that raise each. A raised counter is set and the others are cleared, but for those kept. */
typedef enum { VERB, VERB_S, PAST, NOUN, READINGS } reading;

static const uint8_t reading_context[READINGS] = {
    [VERB] = CONTEXT_VERB,
    [VERB_S] = CONTEXT_VERB_S,
    [PAST] = CONTEXT_PAST,
    [NOUN] = CONTEXT_NOUN,
};

/* The first row whose flags a word has says what the counters become; KEEP leaves them. */
enum { KEEP = 0xff };

static const struct {
    uint16_t mask, flags;
    uint8_t counters[READINGS];
} expectations[] = {
    {FLAG_EXPECTS_VERB | FLAG_EXPECTS_VERB_S, FLAG_EXPECTS_VERB | FLAG_EXPECTS_VERB_S,
     {[VERB] = 1, [VERB_S] = 1, [PAST] = KEEP, [NOUN] = 0}},
    {FLAG_EXPECTS_VERB, FLAG_EXPECTS_VERB,
     {[VERB] = 1, [VERB_S] = 0, [PAST] = KEEP, [NOUN] = 0}},
    {FLAG_EXPECTS_VERB_S, FLAG_EXPECTS_VERB_S,
     {[VERB] = 0, [VERB_S] = 1, [PAST] = 0, [NOUN] = 0}},
    {FLAG_EXPECTS_NOUN, FLAG_EXPECTS_NOUN,
     {[VERB] = 0, [VERB_S] = 0, [PAST] = 0, [NOUN] = 1}},
    {FLAG_EXPECTS_PAST, FLAG_EXPECTS_PAST,
     {[VERB] = 0, [VERB_S] = 0, [PAST] = 2, [NOUN] = 0}},
};

static void expect(uint8_t counters[READINGS], unsigned flags) {
    for (size_t i = 0; i < READINGS; i++) {
        const bool verbal = i == VERB || i == VERB_S;
        if (counters[i] > 0 && !(verbal && flags & FLAG_EXTENDS_VERB)) {
            counters[i]--;
        }
    }
    for (size_t row = 0; row < sizeof expectations / sizeof *expectations; row++) {
        if ((flags & expectations[row].mask) == expectations[row].flags) {
            for (size_t i = 0; i < READINGS; i++) {
                const uint8_t next = expectations[row].counters[i];
                counters[i] = next == KEEP ? counters[i] : next;
            }
            return;
        }
    }
}

/* Verb, noun or past as the words before let expect. */
static void choose_readings(clause *clause) {
    uint8_t counters[READINGS] = {0};
    for (size_t i = 0; i < clause->n_units; i++) {
        clause_unit *unit = clause->units + i;
        lexicon_form form;
        unit->context = CONTEXT_MID;
        if (unit->first & WORD_QUOTED) {
            counters[VERB] = counters[VERB_S] = counters[NOUN] = 0;
        }
        for (size_t r = 0; r < READINGS && lexicon_entry_varies(&unit->entry); r++) {
            if (counters[r] > 0 && lexicon_entry_form(&unit->entry, reading_context[r], &form)) {
                unit->context = reading_context[r];
                break;
            }
        }
        expect(counters, unit->entry.flags);
    }
}

static bool bears_stress(const clause *clause, const clause_unit *unit) {
    if (unit->context == CONTEXT_TAIL || unit->context == CONTEXT_END ||
        unit->context == CONTEXT_ALONE) {
        if (unit->entry.flags & (FLAG_STRESSED_TAIL | FLAG_UNSTRESSED_TAIL)) {
            return unit->entry.flags & FLAG_STRESSED_TAIL;
        }
    }
    return lexicon_form_stressed(clause->lexicon, &unit->form);
}

/* Whether a closing quote hides that the word is final: where it has a form before unstressed
 * ones, or a final one with other sounds and not only another stress. */
static bool breaks_off(const clause *clause, const clause_unit *unit) {
    lexicon_form final, tail;
    return unit->last & WORD_CLOSED &&
           lexicon_entry_form(&unit->entry, CONTEXT_END, &final) &&
           (lexicon_entry_form(&unit->entry, CONTEXT_TAIL, &tail) ||
            !lexicon_same_sounds(clause->lexicon, &final, &unit->entry.base));
}

/* The form of every unit by its place and by whether a stress follows. */
static void choose_stresses(clause *clause) {
    const size_t last = clause->n_units - 1;
    bool stress_follows = false;
    for (size_t i = clause->n_units; i-- > 0;) {
        clause_unit *unit = clause->units + i;
        const lexicon_entry *entry = &unit->entry;
        if (unit->context == CONTEXT_MID) {
            if (i == last && unit->last & WORD_HYPHEN) {
                unit->context = CONTEXT_MID;
            } else if (i == last && breaks_off(clause, unit)) {
                unit->context = CONTEXT_TAIL;
            } else if (i == last) {
                const bool alone = last == 0 && !(unit->first & WORD_APART);
                unit->context = alone ? CONTEXT_ALONE : CONTEXT_END;
            } else if (i == 0 && !(unit->first & WORD_APART) &&
                       lexicon_entry_form(entry, CONTEXT_FIRST, &unit->form)) {
                unit->context = CONTEXT_FIRST;
            } else {
                unit->context = stress_follows ? CONTEXT_MID : CONTEXT_TAIL;
            }
        }
        if (!lexicon_entry_form(entry, unit->context, &unit->form) &&
            !(unit->context == CONTEXT_ALONE &&
              lexicon_entry_form(entry, CONTEXT_END, &unit->form))) {
            unit->form = entry->base;
        }
        stress_follows = stress_follows || bears_stress(clause, unit);
    }
}

/* Where espeak takes breath: before a conjunction, once enough words lie behind. */
static void choose_pauses(clause *clause) {
    size_t behind = 0;
    for (size_t i = 0; i < clause->n_units; i++) {
        clause_unit *unit = clause->units + i;
        const bool breath =
            unit->entry.flags & FLAG_PAUSES && !unit->glued && behind >= PAUSE_AFTER &&
            (i + 1 < clause->n_units || lexicon_form_stressed(clause->lexicon, &unit->form));
        unit->pause = breath || unit->first & WORD_APART;
        behind = breath ? 0 : behind + unit->words;
    }
}

void clause_choose(clause *clause) {
    if (clause->n_units > 0) {
        choose_readings(clause);
        choose_stresses(clause);
        choose_pauses(clause);
    }
}
