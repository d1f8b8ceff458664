"""Words that the lexicon does not hold: possessives, initials, and everything else by letters."""

import unicodedata
from collections.abc import Callable

from twinvox.text.g2p.joins import leaning, link_r
from twinvox.text.g2p.letters import VOWELS, LetterToSound
from twinvox.text.g2p.lexicon import Context, Entry, Lexicon

_SPELT = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ß": "ss", "ð": "th", "þ": "th",
                        "đ": "d", "ł": "l", "ı": "i"})  # fmt: skip
_HISSING = ("s", "z", "ʃ", "ʒ")
_VOICELESS = ("p", "t", "k", "f", "θ")
_UNVOICED_BEFORE_D = ("p", "k", "f", "θ", "s", "ʃ")
_VOWEL_LETTERS = frozenset("aeiouy")
_VOWEL_SOUNDS = frozenset("aeiouɑɛ")
_INITIALS = {"e.g": "fˌɔːɹɛɡzˈæmpəl"}
MC_BEFORE_K = "Mc-"
LONGEST = 40


def pronounce(word: str, lexicon: Lexicon, letters: LetterToSound) -> Entry | None:
    """An entry for ``word``; None where it holds no Latin letter."""
    if word == MC_BEFORE_K:
        return Entry("mə")
    plain = _latin(word)
    parts = [part for part in plain.split("'") if part]
    if not parts:
        return None
    if "." in word:
        return Entry(_INITIALS.get(word.lower()) or spell(plain.lower(), lexicon))
    stem, _, ending = plain.partition("'")
    if stem and ending in _CONTRACTIONS:
        known = _known(stem, lexicon) or _single(stem, lexicon, letters)
        return _extended(known, _CONTRACTIONS[ending])
    if len(parts) > 1:
        entries = [_known(part, lexicon) or _single(part, lexicon, letters) for part in parts]
        return Entry("".join(entry.base for entry in entries))
    whole = parts[0]
    if whole[-1] == "s" and whole[:-1].isupper() and len(whole) > 2:
        return _extended(Entry(spell(whole[:-1].lower(), lexicon)), _add_s)
    found = _known(whole, lexicon) if whole != word else None
    return found or _single(whole, lexicon, letters)


def _single(word: str, lexicon: Lexicon, letters: LetterToSound) -> Entry:
    lower = word.lower()
    if not _VOWEL_LETTERS.intersection(lower) or (word.isupper() and len(word) <= 3):
        return Entry(spell(lower, lexicon))
    for ending, add in _ENDINGS:
        if lower.endswith(ending) and len(lower) >= len(ending) + 3:
            for stem in _stems(lower, ending):
                entry = lexicon.find(stem)
                if entry is not None and " " not in entry.base:
                    return _extended(entry, add)
    for beginning, spoken in _BEGINNINGS:
        stem = lower[len(beginning) :]
        if lower.startswith(beginning) and len(stem) >= 4:
            entry = lexicon.find(stem)
            if entry is not None and " " not in entry.base:
                return Entry(_prefixed(spoken, entry.base))
    pieces = [lower[at : at + LONGEST] for at in range(0, len(lower), LONGEST)]
    return Entry("".join(letters.pronounce(piece) for piece in pieces))


def _stems(word: str, ending: str) -> list[str]:
    """What ``word`` may be made of, the likeliest first: hoping, hopping, tried."""
    stem = word[: -len(ending)]
    if stem.endswith("i"):
        return [stem[:-1] + "y"]
    if ending[0] not in "ei":
        return [stem]
    if stem[-1] == stem[-2]:
        return [stem, stem[:-1]]
    single = stem[-1] not in _VOWEL_LETTERS and stem[-2] in _VOWEL_LETTERS
    return [stem + "e", stem] if single or ending == "es" else [stem, stem + "e"]


def _add_s(form: str) -> str:
    if form.endswith(_HISSING):
        return form + "ᵻz"
    return form + ("s" if form.endswith(_VOICELESS) else "z")


def _add_ed(form: str) -> str:
    if form.endswith(("t", "d")):
        return leaning(form) + "ᵻd"
    return form + ("t" if form.endswith(_UNVOICED_BEFORE_D) else "d")


def _add_ly(form: str) -> str:
    return form[:-2] + "li" if form.endswith("əl") else form.removesuffix("l") + "li"


# What the oracle makes of an ending on a known word; each holds for 85 to 99 % of such words.
_ENDINGS: list[tuple[str, Callable[[str], str]]] = [
    ("ness", lambda form: form + "nəs"),
    ("less", lambda form: form + "ləs"),
    ("ful", lambda form: form + "fəl"),
    ("ment", lambda form: form + "mənt"),
    ("able", lambda form: leaning(form) + "əbəl"),
    ("ings", lambda form: leaning(form) + "ɪŋz"),
    ("ing", lambda form: leaning(form) + "ɪŋ"),
    ("ly", _add_ly),
    ("ed", _add_ed),
    ("es", _add_s),
    ("s", _add_s),
]


def _latin(word: str) -> str:
    """``word`` in A-Z, a-z and apostrophes, accents removed."""
    if word.isascii() and word.isalpha():
        return word
    folded = unicodedata.normalize("NFKD", word.translate(_SPELT))
    return "".join(char for char in folded if char.isascii() and (char.isalpha() or char == "'"))


def _known(word: str, lexicon: Lexicon) -> Entry | None:
    return lexicon.find(word) or lexicon.find(word.lower())


def spell(word: str, lexicon: Lexicon) -> str:
    """``fbi`` as ˌɛfbˌiːˈaɪ: letter names, stressed on the last one and on each third."""
    names: list[str] = []
    for letter in word:
        entry = lexicon.find(letter)
        name = (entry.form(Context.END) or entry.base) if entry else ""
        if names and names[-1].endswith("ɹ") and name.lstrip("ˈˌ")[:1] in _VOWEL_SOUNDS:
            names[-1] += "ɹ"
        names.append(name)
    last = len(names) - 1
    for at, name in enumerate(names):
        if at < last and (at % 3 < 2 or at == last - 1):
            names[at] = name.replace("ˈ", "ˌ")
    return "".join(names)


# What the oracle makes of a beginning of a known word; each holds for 85 to 99 % of such words.
_BEGINNINGS = [
    ("hyper", "hˌaɪpɚ"), ("inter", "ˌɪntɚ"), ("under", "ˌʌndɚ"),
    ("multi", "mˌʌltɪ"), ("anti", "ˌæntɪ"), ("arch", "ˌɑːɹtʃ"),
    ("auto", "ˌɔːɾoʊ"), ("hypo", "hˌaɪpoʊ"), ("over", "ˌoʊvɚ"), ("semi", "sˌɛmɪ"),
    ("bio", "bˌaɪoʊ"), ("mis", "mɪs"), ("non", "nˌɑːn"), ("out", "aʊt"), ("un", "ʌn"),
]  # fmt: skip


def _prefixed(beginning: str, form: str) -> str:
    if beginning.endswith("n") and form.startswith(("k", "ɡ")):
        beginning = beginning[:-1] + "ŋ"
    if form.lstrip("ˈˌ")[:1] in VOWELS:
        beginning = link_r(beginning)
    return beginning + form


# What follows an apostrophe, where the lexicon does not hold the whole.
_CONTRACTIONS: dict[str, Callable[[str], str]] = {
    "s": _add_s,
    "d": lambda form: form + "d",
    "ll": lambda form: leaning(form) + "əl",
    "ve": lambda form: leaning(form) + "əv",
    "re": lambda form: leaning(form) + "ɚ",
}


def _extended(stem: Entry, add: Callable[[str], str]) -> Entry:
    """``stem`` with an ending, in each of its stresses."""
    forms = {
        context: add(form)
        for context, form in (stem.forms or {}).items()
        if context <= Context.ALONE
    }
    return Entry(add(stem.base), 0, forms or None)
