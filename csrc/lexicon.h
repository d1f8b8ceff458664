/* The pronunciation lexicon: front-coded keys, byte-coded phonemes. The layout of the file is
 * described in text/g2p/lexicon.py. */
#ifndef TWINVOX_LEXICON_H
#define TWINVOX_LEXICON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum { LEXICON_CODES = 256, LEXICON_MAX_KEY = 510 };

/* Where a word stands, as far as its sound depends on it; MID is every entry's base form. */
typedef enum {
    CONTEXT_MID,
    CONTEXT_END,
    CONTEXT_TAIL,
    CONTEXT_FIRST,
    CONTEXT_ALONE,
    CONTEXT_VERB,
    CONTEXT_VERB_S,
    CONTEXT_NOUN,
    CONTEXT_PAST,
    CONTEXT_BEFORE_VOWEL,
    CONTEXT_AFTER_WEAK,
    CONTEXT_BEFORE_R,
    CONTEXT_BEFORE_HYPHEN,
    LEXICON_CONTEXTS,
} lexicon_context;

/* What a word does to its neighbours. */
enum {
    FLAG_EXPECTS_VERB = 1,
    FLAG_EXPECTS_VERB_S = 2,
    FLAG_EXPECTS_NOUN = 4,
    FLAG_EXPECTS_PAST = 8,
    FLAG_EXTENDS_VERB = 16,
    FLAG_STRESSED_TAIL = 32,
    FLAG_UNSTRESSED_TAIL = 64,
    FLAG_UNHEARD = 128,
    FLAG_OPENS_PHRASE = 512,
    FLAG_PAUSES = 1024,
    FLAG_AT_END = 2048,
};

typedef struct {
    const uint8_t *blob;
    size_t size;
    uint32_t piece_at[LEXICON_CODES]; /* the UTF-8 that a code stands for, from the blob's start */
    uint8_t piece_size[LEXICON_CODES];
    bool piece_stressed[LEXICON_CODES]; /* it holds a primary stress */
    const uint8_t *offsets; /* of the blocks, n_blocks x uint32 */
    uint32_t n_blocks, n_entries;
    const uint64_t *index; /* [n_blocks] how their first keys begin */
} lexicon;

/* A string of phonemes: codes of a lexicon, or UTF-8 where an entry was made elsewhere. */
typedef struct {
    const uint8_t *bytes;
    size_t n;
    bool coded;
} lexicon_form;

/* One pronunciation; it points into the blob, or into what its maker keeps alive. */
typedef struct {
    lexicon_form base;
    uint16_t flags;
    uint8_t n_packed;
    const uint8_t *packed;          /* n_packed x (context, size, codes) */
    const lexicon_form *by_context; /* NULL, or [LEXICON_CONTEXTS] with NULL bytes for the base */
} lexicon_entry;

/* How many blocks a blob announces, 0 where it is no lexicon: the uint64s that lexicon_open needs
 * for its index. */
size_t lexicon_blocks(const void *blob, size_t size);

/* STATUS_BAD_ARGUMENT where the blob is no lexicon of this version or its tables point outside it.
 * blob and index are kept; a lexicon is read-only and may serve any number of threads. Entries are
 * checked as they are read: of a corrupt blob some are not found, nothing outside it is touched. */
status lexicon_open(lexicon *lexicon, const void *blob, size_t size, uint64_t *index);

/* The entry of a UTF-8 key of n bytes; false where there is none. */
bool lexicon_find(const lexicon *lexicon, const char *key, size_t n, lexicon_entry *entry);

/* Whether an entry has forms beside its base. */
static inline bool lexicon_entry_varies(const lexicon_entry *entry) {
    return entry->n_packed > 0 || entry->by_context;
}

/* The form stored for a context; false where the base holds. */
bool lexicon_entry_form(const lexicon_entry *entry, unsigned context, lexicon_form *form);

/* The bytes of a form in UTF-8; lexicon_spell writes them and returns the end. */
size_t lexicon_form_size(const lexicon *lexicon, const lexicon_form *form);
uint8_t *lexicon_spell(const lexicon *lexicon, const lexicon_form *form, uint8_t *out);

/* Whether a form holds a primary stress, and whether it reads as n bytes of UTF-8. */
bool lexicon_form_stressed(const lexicon *lexicon, const lexicon_form *form);
bool lexicon_form_equals(const lexicon *lexicon, const lexicon_form *form, const uint8_t *text,
                         size_t n);

/* Whether two forms differ in their stresses only. */
bool lexicon_same_sounds(const lexicon *lexicon, const lexicon_form *a, const lexicon_form *b);

#endif
