"""English text as LuxTTS was trained to read it: marks mapped, numbers and titles in words.

The rules and their order are those of the model's own normaliser; the exact spaces around the
words matter, because the rhythm of the clauses depends on them. The one departure: text that
holds only digits is spoken too.
"""

import re

from twinvox.text.numbers import LARGEST, And, cardinal, digits, ordinal, year

_ELLIPSIS = re.compile(r"⋯|\.\.\.|···|・・・")
_MARKS = str.maketrans("，。！？；：、‘’“”", ",.!?;:,''\"\"")
_ABBREVIATIONS = {
    "mrs": "misess", "mr": "mister", "dr": "doctor", "st": "saint", "co": "company",
    "jr": "junior", "maj": "major", "gen": "general", "drs": "doctors", "rev": "reverend",
    "lt": "lieutenant", "hon": "honorable", "sgt": "sergeant", "capt": "captain",
    "esq": "esquire", "ltd": "limited", "col": "colonel", "ft": "fort", "etc": "et cetera",
    "btw": "by the way",
}  # fmt: skip
_ABBREVIATION = re.compile(rf"\b(?ai:{'|'.join(_ABBREVIATIONS)})\b")
_DIGIT_COMMAS = re.compile(r"[0-9][0-9,]+[0-9]")
_POUNDS = re.compile(r"£([0-9]+)")
_DOLLARS = re.compile(r"\$([0-9.]*[0-9])")
_FRACTION = re.compile(r"(?<![0-9])([0-9]+)/([0-9]+)")
_DECIMAL = re.compile(r"(?<![0-9])([0-9]+)\.([0-9]+)")
_PERCENT = re.compile(r"([0-9])%")
_ORDINAL = re.compile(r"(?<![0-9])([0-9]+)(?:st|nd|rd|th)")
_NUMBER = re.compile(r"[0-9]+")
_MOST_DIGITS = len(str(LARGEST))


def normalize(text: str) -> str:
    """``text`` with its marks mapped and its abbreviations and numbers in words; never raises."""
    text = map_marks(text)
    text = _ABBREVIATION.sub(lambda match: _ABBREVIATIONS[match.group().lower()], text)
    if not _NUMBER.search(text):
        return text
    text = _DIGIT_COMMAS.sub(lambda match: match.group().replace(",", ""), text)
    text = _POUNDS.sub(r"\1 pounds", text)
    text = _DOLLARS.sub(_dollars, text)
    text = _FRACTION.sub(_fraction, text)
    text = _DECIMAL.sub(r"\1 point \2", text)
    text = _PERCENT.sub(r"\1 percent ", text)
    text = _ORDINAL.sub(lambda match: f" {_ordinal_words(match.group(1))} ", text)
    return _NUMBER.sub(lambda match: f" {_number_words(match.group())} ", text)


def map_marks(text: str) -> str:
    """``text`` with East Asian marks, curly quotes and ellipses as the model knows them."""
    return _ELLIPSIS.sub("…", text).translate(_MARKS)


def _dollars(match: re.Match[str]) -> str:
    amount = match.group(1)
    dollars, _, cents = amount.partition(".")
    if "." in cents or not _readable(dollars) or not _readable(cents):
        return amount + " dollars"
    parts = []
    if int(dollars or 0):
        parts.append(f"{int(dollars)} {'dollar' if int(dollars) == 1 else 'dollars'}")
    if int(cents or 0):
        parts.append(f"{int(cents)} {'cent' if int(cents) == 1 else 'cents'}")
    return f" {', '.join(parts) or 'zero dollars'} "


def _fraction(match: re.Match[str]) -> str:
    top, bottom = match.groups()
    if not _readable(top) or not _readable(bottom):
        return f" {_number_words(top)} over {_number_words(bottom)} "
    names = {2: ("half", "halves"), 4: ("quarter", "quarters")}
    numerator, denominator = int(top), int(bottom)
    plain, several = names.get(denominator) or (ordinal(denominator),) * 2
    name = plain if numerator == 1 else several
    return f" {cardinal(numerator, And.SPOKEN)} {name} "


def _ordinal_words(text: str) -> str:
    return ordinal(int(text)) if _readable(text) else digits(text)


def _number_words(text: str) -> str:
    if not _readable(text):
        return digits(text)
    number = int(text)
    return year(number) if 1000 < number < 3000 else cardinal(number)


def _readable(text: str) -> bool:
    return len(text) <= _MOST_DIGITS
