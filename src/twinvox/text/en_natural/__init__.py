"""English text in the words that a good reader says: dates, prices, units, addresses, titles.

Each module takes one class of things that are not read as they are written and puts their words
in place; what it leaves is for the next one, and `numerals` leaves no digit.
"""

import re
import string

from twinvox.text.en_natural.abbreviations import ABBREVIATIONS, BARE_TRAPS, BEFORE_ONE, TRAPS
from twinvox.text.en_natural.addresses import ADDRESSES, PHONE_NUMBERS
from twinvox.text.en_natural.amounts import VULGAR
from twinvox.text.en_natural.dates import DATES, DECADES, MONTHS, NAMES_OF_DAYS, TIMES
from twinvox.text.en_natural.markup import strip_markup
from twinvox.text.en_natural.measures import LENGTHS, MEASURES, MONEY
from twinvox.text.en_natural.numerals import NUMERALS
from twinvox.text.en_natural.replace import (
    LETTER_BESIDE_DIGIT,
    STOP_BEFORE_DIGIT,
    STOP_BEFORE_LETTER,
)
from twinvox.text.en_natural.symbols import SYMBOLS
from twinvox.text.en_upstream import map_marks

_PASSES = (
    ADDRESSES, NAMES_OF_DAYS, ABBREVIATIONS, PHONE_NUMBERS, DATES, MONTHS, DECADES, TIMES,
    MONEY, LENGTHS, MEASURES, SYMBOLS, *NUMERALS,
)  # fmt: skip

# Every ASCII character as a small letter, a space between words, or NUL: needs a closer look.
_FOLDED = dict.fromkeys(range(128), "\0")
_FOLDED |= {ord(char): char.lower() for char in string.ascii_letters}
_FOLDED |= {ord(char): " " for char in " \n,;!?.\"'-"}
_WORDS = _FOLDED | {ord(char): " " for char in string.digits + string.punctuation}
_NO_LETTERS = {ord(char): None for char in string.ascii_letters + string.digits}
_INNER_STOP = re.compile(r"\.\S")
_STOP_BEFORE_LETTER = re.compile(r"\.[^\W\d_]| [A-Z]\.")
_STOP_BEFORE_DIGIT = re.compile(r"\.\d")
_LOOSE_HYPHEN = re.compile(r"(?<![^\W_])-|-(?![^\W_])")
_DIGIT = re.compile(f"[0-9⁰¹²³⁴-⁹{''.join(VULGAR)}]")
_LETTER_BESIDE_DIGIT = re.compile(r"[0-9][A-Za-z]|[A-Za-z]-?[0-9]")
_SCIENTIFIC = re.compile(r"[0-9][eE][-+0-9]")
_SPACED_GROUP = re.compile(r"[0-9] [0-9]{3}")


def normalize(text: str) -> str:
    """``text`` as a good reader says it; never raises, and plain sentences stay as they are.

    Letters of other scripts stay; emoji, invisible characters and Markdown marks go.
    """
    if _is_plain(text):
        return text
    text = strip_markup(map_marks(text))
    if _is_plain(text):
        return text
    digits = _DIGIT.search(text) is not None
    traits = _traits(text, digits)
    for one in _PASSES:
        if (digits or not one.digits) and not (one.needs and one.needs.isdisjoint(traits)):
            before, text = text, one.say(text)
            digits = digits and (text is before or _DIGIT.search(text) is not None)
    return text


def _is_plain(text: str) -> bool:
    """Whether nothing in ``text`` could need other words than those it has."""
    folded = text.translate(_FOLDED)
    if "\0" in folded or not folded.isascii():
        return False
    words = folded.split()
    return (
        (TRAPS.isdisjoint(words) or _without_traps(text, words))
        and _INNER_STOP.search(text) is None
        and ("-" not in text or _LOOSE_HYPHEN.search(text) is None)
        and (" I" not in text or BEFORE_ONE.isdisjoint(words))
    )


def _without_traps(text: str, words: list[str]) -> bool:
    text = text.lower()
    return BARE_TRAPS.isdisjoint(words) and not any(
        f"{word}." in text for word in TRAPS.intersection(words)
    )


def _traits(text: str, digits: bool) -> set[str]:
    """What `Pass.needs` may ask for: the marks and words of ``text``, and a few sequences."""
    traits = set(text.translate(_NO_LETTERS))
    traits.update(text.translate(_WORDS).split())
    if _STOP_BEFORE_LETTER.search(text) or text[1:2] == ".":
        traits.add(STOP_BEFORE_LETTER)
    if digits and _STOP_BEFORE_DIGIT.search(text):
        traits.add(STOP_BEFORE_DIGIT)
    traits.update(part for part in ("--", " -", "in.") if part in text)
    if text[:1] == "-":
        traits.add(" -")
    if digits:
        if _LETTER_BESIDE_DIGIT.search(text):
            traits.add(LETTER_BESIDE_DIGIT)
            if _SCIENTIFIC.search(text):
                traits.add("1e")
        if _SPACED_GROUP.search(text):
            traits.add("1 000")
    return traits
