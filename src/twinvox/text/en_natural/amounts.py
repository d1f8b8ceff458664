"""Numbers that say how much: the pattern that finds them, and their words."""

import re

from twinvox.text.numbers import And, cardinal, decimal, ordinal, quantity

_WHOLE = r"(?>\d{1,3}(?:,\d{3})++(?!\d)|\d{1,2}(?:,\d{2}(?!\d))++,\d{3}(?!\d)|\d++)"
NUMBER = rf"(?:{_WHOLE}(?:\.\d++)?|\.\d++)"
"""Digits with thousands commas and a decimal part."""
VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5),
    "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8),
    "⅞": (7, 8), "⅐": (1, 7), "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip
_VULGAR = "".join(VULGAR)
_ONE = (
    rf"(?:\d{{1,4}} ?[{_VULGAR}]|[{_VULGAR}]|(?:\d{{1,4}} )?\d{{1,2}}/\d{{1,3}}(?![\d/])|{NUMBER})"
)
# Where a number may begin: not inside another one, nor in a name such as "F-16".
START = r"(?<![^\W_])(?<!\d[.,])(?<![^\W_]-)(?<!\d/)"
SIGN = r"(?:(?<![^\s(\[\"'=<>~≈±:,;/])[-−+±])?"
AMOUNT = rf"{START}{SIGN}{_ONE}(?:\s?[-–—]\s?{_ONE})?"
"""One number, signed or a fraction, or a range of two."""
_RANGE = re.compile(rf"([-−+±]?)({_ONE})(?:\s?[-–—]\s?({_ONE}))?")
_FRACTION = re.compile(rf"(?:(\d+) ?)??(?:(\d+)/(\d+)|([{_VULGAR}]))")
_SIGNS = {"-": "minus ", "−": "minus ", "+": "plus ", "±": "plus or minus ", "": ""}


def say_amount(text: str) -> str:
    """The words of what `AMOUNT` matches: "minus three point five", "ten to fifteen"."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return text
    sign, low, high = match.groups()
    words = _SIGNS[sign] + _say_one(low)
    return f"{words} to {_say_one(high)}" if high else words


def is_one(text: str) -> bool:
    """Whether the noun after the amount is singular: 1, −1, 1/2."""
    digits = text.lstrip("-−+±")
    return digits == "1" or digits in VULGAR or ("/" in digits and " " not in digits)


def say_fraction(top: int, bottom: int) -> str:
    """ "one half", "three quarters", "two thirds"."""
    names = {2: ("half", "halves"), 4: ("quarter", "quarters")}
    one, several = names.get(bottom) or (ordinal(bottom), ordinal(bottom) + "s")
    return f"{cardinal(top, And.SPOKEN)} {one if top == 1 else several}"


def _say_one(text: str) -> str:
    match = _FRACTION.fullmatch(text)
    if match is None:
        text = text.replace(",", "")
        return decimal(text) if "." in text else quantity(text)
    whole, top, bottom, vulgar = match.groups()
    fraction = VULGAR[vulgar] if vulgar else (int(top), int(bottom))
    if not whole:
        return say_fraction(*fraction)
    words = "a half" if fraction == (1, 2) else say_fraction(*fraction)
    return f"{quantity(whole)} and {words}"
