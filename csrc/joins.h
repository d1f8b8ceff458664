/* What the end of one form of phonemes does before the sound that follows it. A sound is a span of
 * UTF-8 with JOINS_BEFORE bytes to spare before it and JOINS_AFTER behind it; it is changed in
 * place, or moves by those. */
#ifndef TWINVOX_JOINS_H
#define TWINVOX_JOINS_H

#include <stdbool.h>
#include <stdint.h>

enum { JOINS_BEFORE = 1, JOINS_AFTER = 6 };

typedef struct {
    uint8_t *start, *end;
} sound;

typedef enum { OPENS_OTHER, OPENS_VOWEL, OPENS_R } opening;

/* Whether a sound ends with this UTF-8 string. */
bool joins_ends_with(const sound *form, const char *ending);

/* What a sound begins with, its stress set aside. */
opening joins_opening(const sound *form);

/* Whether the last vowel of a sound bears no stress; false where there is no vowel. */
bool joins_ends_weak(const sound *form);

/* Before a vowel a final ɚ or ɜː is followed by the r that it stands for. */
void joins_link_r(sound *form);

/* Before r a final ə takes its colour, but after i. */
void joins_rhotic(sound *form);

/* Two parts of a hyphen chain, as each colours the other. */
void joins_glue(sound *form, sound *following);

#endif
