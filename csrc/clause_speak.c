/* Forms to phonemes: weak forms, hyphens, breaths and links. */
#include <string.h>

#include "clause.h"
#include "joins.h"

/* What a unit may become after its stress is chosen. */
static const uint8_t late_contexts[] = {CONTEXT_AFTER_WEAK, CONTEXT_BEFORE_VOWEL,
                                        CONTEXT_BEFORE_R, CONTEXT_BEFORE_HYPHEN};

static size_t most_bytes(const clause *clause, const clause_unit *unit) {
    size_t most = lexicon_form_size(clause->lexicon, &unit->form);
    for (size_t i = 0; i < sizeof late_contexts && lexicon_entry_varies(&unit->entry); i++) {
        lexicon_form form;
        if (lexicon_entry_form(&unit->entry, late_contexts[i], &form)) {
            const size_t size = lexicon_form_size(clause->lexicon, &form);
            most = size > most ? size : most;
        }
    }
    return JOINS_BEFORE + most + JOINS_AFTER;
}

size_t clause_room(const clause *clause) {
    size_t bytes = 0;
    for (size_t i = 0; i < clause->n_units; i++) {
        bytes += most_bytes(clause, clause->units + i);
    }
    return bytes;
}

static sound sound_of(const clause_unit *unit) {
    return (sound){unit->start, unit->end};
}

static bool is_base(const clause *clause, const clause_unit *unit) {
    return lexicon_form_equals(clause->lexicon, &unit->entry.base, unit->start,
                               (size_t)(unit->end - unit->start));
}

static void respell(const clause *clause, clause_unit *unit, const lexicon_form *form) {
    unit->form = *form;
    unit->end = lexicon_spell(clause->lexicon, form, unit->start);
}

/* Every form on its own, at its own place in out. */
static void spell_units(clause *clause, uint8_t *out) {
    for (size_t i = 0; i < clause->n_units; i++) {
        clause_unit *unit = clause->units + i;
        lexicon_form weak;
        unit->start = out + JOINS_BEFORE;
        out += most_bytes(clause, unit);
        respell(clause, unit, &unit->form);
        if (i > 0 && !unit->glued && !(unit->first & WORD_APART) &&
            lexicon_entry_form(&unit->entry, CONTEXT_AFTER_WEAK, &weak) && is_base(clause, unit)) {
            const sound before = sound_of(unit - 1);
            if (joins_ends_weak(&before)) {
                respell(clause, unit, &weak);
            }
        }
    }
}

/* Before a hyphen a word has a form of its own; a weak one also where nothing is glued to it. */
static void bind(const clause *clause, clause_unit *unit, bool glued) {
    lexicon_form bound;
    if (unit->last & WORD_HYPHEN && !unit->glued &&
        lexicon_entry_form(&unit->entry, CONTEXT_BEFORE_HYPHEN, &bound) &&
        (glued || !lexicon_form_stressed(clause->lexicon, &unit->entry.base)) &&
        is_base(clause, unit)) {
        respell(clause, unit, &bound);
    }
}

/* Before a breath "to" does not shrink. */
static void breathe(const clause *clause, clause_unit *unit) {
    const lexicon_form shrunk = unit->form;
    lexicon_form full;
    sound form = sound_of(unit);
    if (joins_ends_with(&form, "tə") &&
        lexicon_entry_form(&unit->entry, CONTEXT_BEFORE_VOWEL, &full)) {
        respell(clause, unit, &full);
        form = sound_of(unit);
        if (!joins_ends_with(&form, "tʊ")) {
            respell(clause, unit, &shrunk);
        }
    }
}

/* The form of a unit as it leans on the sound of the next one. */
static void lean(const clause *clause, clause_unit *unit, const clause_unit *next) {
    sound form = sound_of(unit);
    const sound following = sound_of(next);
    const opening opens = joins_opening(&following);
    if (opens == OPENS_OTHER) {
        return;
    }
    const unsigned context = opens == OPENS_R ? CONTEXT_BEFORE_R : CONTEXT_BEFORE_VOWEL;
    lexicon_form stored;
    if (lexicon_entry_form(&unit->entry, context, &stored) && is_base(clause, unit)) {
        respell(clause, unit, &stored);
    } else {
        (opens == OPENS_R ? joins_rhotic : joins_link_r)(&form);
        unit->end = form.end;
    }
}

size_t clause_speak(clause *clause, uint8_t *out) {
    const size_t n = clause->n_units;
    if (n == 0) {
        return 0;
    }
    spell_units(clause, out);
    for (size_t i = 0; i < n; i++) {
        bind(clause, clause->units + i, i + 1 < n && clause->units[i + 1].glued);
    }
    if (clause->units[n - 1].last & WORD_CLOSED) {
        breathe(clause, clause->units + n - 1);
    }
    for (size_t i = n; i-- > 1;) {
        clause_unit *unit = clause->units + i - 1;
        if (unit[1].pause) {
            breathe(clause, unit);
        } else if (!(unit[1].entry.flags & FLAG_UNHEARD)) {
            lean(clause, unit, unit + 1);
        }
    }
    uint8_t *end = out;
    for (size_t i = 0; i < n; i++) {
        clause_unit *unit = clause->units + i;
        if (i + 1 < n && unit[1].glued) {
            sound form = sound_of(unit), following = sound_of(unit + 1);
            joins_glue(&form, &following);
            unit->end = form.end;
            unit[1].start = following.start;
        }
        if (i > 0 && !unit->glued) {
            *end++ = ' ';
        }
        const size_t size = (size_t)(unit->end - unit->start);
        memmove(end, unit->start, size);
        end += size;
    }
    return (size_t)(end - out);
}
