"""Words that the lexicon does not hold: initials, contractions, known stems, or by letters."""

from collections.abc import Callable, Iterator

from twinvox.text.g2p.joins import leaning, link_r, plural, rhotic
from twinvox.text.g2p.letters import VOWELS, LetterToSound, folded
from twinvox.text.g2p.lexicon import Context, Entry, Lexicon

_UNVOICED_BEFORE_D = ("p", "k", "f", "θ", "s", "ʃ")
_VOWEL_LETTERS = frozenset("aeiouy")
_VOWEL_SOUNDS = frozenset("aeiouɑɛ")
_INITIALS = {"e.g": "fˌɔːɹɛɡzˈæmpəl"}
_SPELT_CAPITALS = 3
MC_BEFORE_K = "Mc-"
NEVER_READ = "\u1e00"  # letters from here on (ạ, ễ, ḩ) the oracle spells by their code
SHORTEST_STEM, SHORTEST_REST = 3, 4
_Adding = Callable[[str], str]


def pronounce(word: str, lexicon: Lexicon, letters: LetterToSound) -> Entry | None:
    """An entry for ``word``; None where it holds no Latin letter."""
    if word == MC_BEFORE_K:
        return Entry("mə")
    plain = folded(word, letters.alphabet).strip("'")
    lower = plain.lower()
    if not lower:
        return None
    base = folded(lower, "").replace("'", "")
    if "." in word:
        return Entry(_INITIALS.get(word.lower()) or spell(base, lexicon))
    short = plain.isupper() and len(plain) <= _SPELT_CAPITALS
    if short or not _VOWEL_LETTERS.intersection(base):
        return Entry(spell(base, lexicon))
    known = lexicon.find(base) if max(word) >= NEVER_READ else None
    if known is not None:
        return known
    derived = _derived(lower, lexicon, letters)
    return derived or Entry(letters.pronounce(lower) or spell(base, lexicon))


def _derived(word: str, lexicon: Lexicon, letters: LetterToSound) -> Entry | None:
    """``word`` as the oracle forms it of one that the lexicon holds.

    An ending counts only on a stem that defies the letters; else they know more of the whole.
    """
    stem, mark, ending = word.rpartition("'")
    if mark and ending in _CONTRACTIONS:
        entry = _one_word(stem, lexicon)
        return entry and _extended(entry, _CONTRACTIONS[ending])
    for beginning, spoken in _BEGINNINGS:
        rest = word.removeprefix(beginning)
        entry = _one_word(rest, lexicon) if len(word) > len(rest) >= SHORTEST_REST else None
        if entry is not None:
            return Entry(_prefixed(spoken, entry.base))
    for stem, add in _stems(word):
        entry = _one_word(stem, lexicon)
        if entry is not None and letters.pronounce(stem) != entry.base:
            return _extended(entry, add)
    return None


def _one_word(key: str, lexicon: Lexicon) -> Entry | None:
    entry = lexicon.find(key)
    return entry if entry is not None and " " not in entry.base else None


def _stems(word: str) -> Iterator[tuple[str, _Adding]]:
    """What ``word`` may be made of, and what makes it so."""
    for ending, add in _ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + SHORTEST_STEM:
            for stem in _before(word, ending):
                yield stem, add
    if word.startswith("un") and len(word) >= 2 + SHORTEST_REST:
        yield word[2:], _negated


def _before(word: str, ending: str) -> list[str]:
    """The words that may have taken ``ending``, the likeliest first: hoping, hopping, tried."""
    stem = word[: -len(ending)]
    if stem.endswith("i"):
        return [stem[:-1] + "y"]
    if ending[0] not in "ei":
        return [stem]
    if stem[-1] == stem[-2]:
        return [stem, stem[:-1]]
    single = stem[-1] not in _VOWEL_LETTERS and stem[-2] in _VOWEL_LETTERS
    return [stem + "e", stem] if single or ending == "es" else [stem, stem + "e"]


def _add_ed(form: str) -> str:
    if form.endswith(("t", "d")):
        return leaning(form) + "ᵻd"
    return form + ("t" if form.endswith(_UNVOICED_BEFORE_D) else "d")


def _add_ly(form: str) -> str:
    return form[:-2] + "li" if form.endswith("əl") else form.removesuffix("l") + "li"


# What the oracle makes of an ending on a word whose sounds it knows by heart.
_ENDINGS: list[tuple[str, _Adding]] = [
    ("ness", lambda form: form + "nəs"),
    ("less", lambda form: form + "ləs"),
    ("ful", lambda form: form + "fəl"),
    ("ment", lambda form: form + "mənt"),
    ("able", lambda form: leaning(form) + "əbəl"),
    ("ings", lambda form: leaning(form) + "ɪŋz"),
    ("ing", lambda form: leaning(form) + "ɪŋ"),
    ("ly", _add_ly),
    ("ed", _add_ed),
    ("es", plural),
    ("s", plural),
]


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


# What the oracle puts before a word that it then speaks as if alone, 83 to 100 % of the time.
_BEGINNINGS = [
    ("contra", "kˌɑːntɹə"), ("hyper", "hˌaɪpɚ"), ("infra", "ˌɪnfɹə"), ("inter", "ˌɪntɚ"),
    ("multi", "mˌʌltɪ"), ("paleo", "pˌeɪliːoʊ"), ("photo", "fˌoʊɾoʊ"), ("radio", "ɹˌeɪdɪoʊ"),
    ("retro", "ɹˌɛtɹoʊ"), ("under", "ˌʌndɚ"), ("anti", "ˌæntɪ"), ("arch", "ˌɑːɹtʃ"),
    ("auto", "ˌɔːɾoʊ"), ("hypo", "hˌaɪpoʊ"), ("nano", "nˌænoʊ"), ("over", "ˌoʊvɚ"),
    ("pyro", "pˌaɪɹoʊ"), ("semi", "sˌɛmɪ"), ("bio", "bˌaɪoʊ"), ("mis", "mɪs"),
    ("non", "nˌɑːn"), ("out", "aʊt"),
]  # fmt: skip


def _prefixed(beginning: str, form: str) -> str:
    first = form[:1]
    if beginning.endswith("n") and first in ("k", "ɡ"):
        beginning = beginning[:-1] + "ŋ"
    elif first == "ɹ":
        beginning = rhotic(beginning)
    elif first in VOWELS:
        beginning = leaning(beginning)
    elif form[1:2] in VOWELS and first in "ˈˌ":
        beginning = link_r(beginning)
    return beginning + form


def _negated(form: str) -> str:
    return _prefixed("ʌn", form)


# What follows an apostrophe, where the lexicon does not hold the whole.
_CONTRACTIONS: dict[str, _Adding] = {
    "s": plural,
    "d": lambda form: form + "d",
    "ll": lambda form: leaning(form) + "əl",
    "ve": lambda form: leaning(form) + "əv",
    "re": lambda form: leaning(form) + "ɚ",
}


def _extended(stem: Entry, add: _Adding) -> Entry:
    """``stem`` with an ending, in each of its stresses."""
    forms = {
        context: add(form)
        for context, form in (stem.forms or {}).items()
        if context <= Context.ALONE
    }
    return Entry(add(stem.base), 0, forms or None)
