#include "joins.h"

#include <string.h>

#include "utf8.h"

enum {
    ASH = 0xe6,                /* æ */
    ENG = 0x14b,               /* ŋ */
    TURNED_A = 0x250,          /* ɐ */
    SCRIPT_A = 0x251,          /* ɑ */
    TURNED_SCRIPT_A = 0x252,   /* ɒ */
    OPEN_O = 0x254,            /* ɔ */
    SCHWA = 0x259,             /* ə */
    SCHWA_HOOK = 0x25a,        /* ɚ */
    OPEN_E = 0x25b,            /* ɛ */
    REVERSED_OPEN_E = 0x25c,   /* ɜ */
    SCRIPT_G = 0x261,          /* ɡ */
    SMALL_I = 0x26a,           /* ɪ */
    TURNED_R = 0x279,          /* ɹ */
    TAP = 0x27e,               /* ɾ */
    UPSILON = 0x28a,           /* ʊ */
    TURNED_V = 0x28c,          /* ʌ */
    PRIMARY = 0x2c8,           /* ˈ */
    SECONDARY = 0x2cc,         /* ˌ */
    LONG = 0x2d0,              /* ː */
    SYLLABIC = 0x329,          /* under n in n̩ */
    SMALL_I_STROKE = 0x1d7b,   /* ᵻ */
};

static bool is_vowel(uint32_t scalar) {
    switch (scalar) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
    case ASH:
    case TURNED_A:
    case SCRIPT_A:
    case TURNED_SCRIPT_A:
    case OPEN_O:
    case SCHWA:
    case SCHWA_HOOK:
    case OPEN_E:
    case REVERSED_OPEN_E:
    case SMALL_I:
    case UPSILON:
    case TURNED_V:
    case SMALL_I_STROKE:
        return true;
    default:
        return false;
    }
}

static bool is_stress(uint32_t scalar) {
    return scalar == PRIMARY || scalar == SECONDARY;
}

bool joins_ends_with(const sound *form, const char *ending) {
    const size_t n = strlen(ending);
    return (size_t)(form->end - form->start) >= n && memcmp(form->end - n, ending, n) == 0;
}

/* Puts `text` in the place of the last n bytes. */
static void replace_end(sound *form, size_t n, const char *text) {
    const size_t size = strlen(text);
    memcpy(form->end - n, text, size);
    form->end += (ptrdiff_t)size - (ptrdiff_t)n;
}

static uint32_t first(const sound *form) {
    return utf8_at(form->start, form->end);
}

static uint32_t last(const sound *form) {
    return utf8_at(utf8_before(form->start, form->end), form->end);
}

static uint32_t first_unstressed(const sound *form) {
    const uint8_t *at = form->start;
    while (at < form->end && is_stress(utf8_at(at, form->end))) {
        at += utf8_size(*at);
    }
    return utf8_at(at, form->end);
}

opening joins_opening(const sound *form) {
    const uint32_t scalar = first_unstressed(form);
    return is_vowel(scalar) ? OPENS_VOWEL : scalar == TURNED_R ? OPENS_R : OPENS_OTHER;
}

/* Whether two scalars are one vowel: a diphthong, or the syllabic n. */
static bool is_pair(uint32_t first, uint32_t second) {
    switch (second) {
    case SMALL_I:
        return first == 'a' || first == 'e' || first == OPEN_O;
    case UPSILON:
        return first == 'a' || first == 'o';
    case SYLLABIC:
        return first == 'n';
    default:
        return false;
    }
}

static uint32_t scalar_before(const sound *form, const uint8_t *at) {
    return at > form->start ? utf8_at(utf8_before(form->start, at), at) : 0;
}

/* Where the vowel begins that the scalar at `at` ends; NULL where that is no vowel. */
static const uint8_t *vowel_start(const sound *form, const uint8_t *at) {
    const uint32_t scalar = utf8_at(at, form->end);
    const uint32_t before = scalar_before(form, at);
    const uint8_t *start = utf8_before(form->start, at);
    if (is_pair(before, scalar)) {
        return start;
    }
    if ((scalar == SCHWA || scalar == SCHWA_HOOK) && before == SMALL_I &&
        scalar_before(form, start) == 'a') {
        return utf8_before(form->start, start); /* aɪə, aɪɚ */
    }
    return is_vowel(scalar) ? at : NULL;
}

bool joins_ends_weak(const sound *form) {
    for (const uint8_t *at = form->end; at > form->start;) {
        at = utf8_before(form->start, at);
        const uint8_t *start = vowel_start(form, at);
        if (start) {
            return !is_stress(scalar_before(form, start));
        }
    }
    return false;
}

void joins_link_r(sound *form) {
    if (joins_ends_with(form, "ɚ") || joins_ends_with(form, "ɜː")) {
        replace_end(form, 0, "ɹ");
    }
}

void joins_rhotic(sound *form) {
    if (joins_ends_with(form, "ə") && !joins_ends_with(form, "iə")) {
        replace_end(form, strlen("ə"), "ɚ");
    }
}

/* Before an unstressed vowel of the same word a t after a vowel is tapped. */
static void flap(sound *form) {
    if (joins_ends_with(form, "t")) {
        const sound rest = {form->start, form->end - 1};
        const uint32_t before = rest.end > rest.start ? last(&rest) : 0;
        if (is_vowel(before) || before == LONG || before == TURNED_R) {
            replace_end(form, 1, "ɾ");
        }
    }
}

static bool ends_open(const sound *form) {
    const uint32_t scalar = form->end > form->start ? last(form) : 0;
    return is_vowel(scalar) || scalar == LONG || scalar == TURNED_R ||
           joins_ends_with(form, "əl");
}

/* What is left of a sound after its first scalar, or after nothing. */
static sound rest_of(const sound *form) {
    const size_t size = form->start < form->end ? utf8_size(*form->start) : 0;
    return (sound){form->start + size, form->end};
}

/* Whether a vowel begins the sound and no nasal closes it at once. */
static bool opens_with_oral_vowel(const sound *form, bool or_kn) {
    if (!is_vowel(first(form))) {
        return false;
    }
    const sound rest = rest_of(form);
    const sound second = rest_of(&rest);
    const uint32_t closes = first(&rest);
    return closes != 'n' && closes != ENG && !(or_kn && closes == 'k' && first(&second) == 'n');
}

/* The tap after which only vowels and an l are left; NULL where there is none. */
static uint8_t *final_tap(const sound *form) {
    const uint8_t *at = form->end;
    if (scalar_before(form, at) == 'l') {
        at = utf8_before(form->start, at);
    }
    if (scalar_before(form, at) == LONG) {
        at = utf8_before(form->start, at);
    }
    const uint8_t *vowels = at;
    while (is_vowel(scalar_before(form, at))) {
        at = utf8_before(form->start, at);
    }
    const bool tapped = at < vowels && scalar_before(form, at) == TAP;
    return tapped ? form->start + (utf8_before(form->start, at) - form->start) : NULL;
}

/* Makes a tap a t again. */
static void untap(sound *form, uint8_t *tap) {
    const uint8_t *after = tap + strlen("ɾ");
    *tap = 't';
    memmove(tap + 1, after, (size_t)(form->end - after));
    form->end--;
}

void joins_glue(sound *form, sound *following) {
    const uint32_t opens = first(following);
    const sound rest = rest_of(following);
    uint8_t *tap = opens == 'n' ? final_tap(form) : NULL;
    if (joins_ends_with(form, "n") && (opens == 'k' || opens == SCRIPT_G)) {
        replace_end(form, 1, "ŋ");
    } else if (tap) {
        untap(form, tap);
    } else if (joins_ends_with(form, "ɑːɹ") || joins_ends_with(form, "ʊɹ")) {
        replace_end(form, 0, is_vowel(first_unstressed(following)) ? "ɹ" : "");
    } else if (opens == TURNED_R && joins_ends_with(form, "ɹ")) {
        replace_end(form, strlen("ɹ"), "");
    } else if (opens_with_oral_vowel(following, false)) {
        flap(form);
    } else if (opens == 't' && ends_open(form) && opens_with_oral_vowel(&rest, true)) {
        following->start--;
        memcpy(following->start, "ɾ", strlen("ɾ"));
    }
}
