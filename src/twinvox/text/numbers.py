"""English number words, spelt as the normaliser of LuxTTS spells them, and other readings."""

import re
from enum import Enum
from functools import lru_cache

_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
]  # fmt: skip
_TENS = [
    "_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
]  # fmt: skip
_GROUPS = [
    "thousand", "million", "billion", "trillion", "quadrillion", "quintillion", "sextillion",
    "septillion", "octillion", "nonillion", "decillion",
]  # fmt: skip
_IRREGULAR_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
LARGEST = 10 ** (3 * (len(_GROUPS) + 1)) - 1
_MOST_DIGITS = len(str(LARGEST))
_ROMAN = re.compile(r"(XL|L?X{0,3})(IX|IV|V?I{0,3})")
_ROMAN_DIGITS = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
_TENS_AS_ONES = str.maketrans("XL", "IV")


class And(Enum):
    """Whether "and" stands before the last two digits of a number."""

    SPOKEN = " and "
    DROPPED = " "


@lru_cache(1024)
def cardinal(number: int, conjunction: And = And.DROPPED) -> str:
    """``12345`` as "twelve thousand, three hundred forty-five".

    Above `LARGEST` (36 digits) the digits are read one by one.
    """
    if number > LARGEST:
        return digits(str(number))
    if number < 1000:
        return _hundreds(number, conjunction)
    groups = []
    rest, power = number, -1
    while rest:
        rest, group = divmod(rest, 1000)
        if group:
            words = _hundreds(group, conjunction)
            groups.append(words if power < 0 else f"{words} {_GROUPS[power]}")
        power += 1
    groups.reverse()
    if 0 < number % 1000 < 100:
        return ", ".join(groups[:-1]) + conjunction.value + groups[-1]
    return ", ".join(groups)


def ordinal(number: int) -> str:
    """``101`` as "one hundred and first"."""
    words = cardinal(number, And.SPOKEN)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    head, last = words[:cut], words[cut:]
    if last in _IRREGULAR_ORDINALS:
        return head + _IRREGULAR_ORDINALS[last]
    if last.endswith("y"):
        return head + last[:-1] + "ieth"
    return head + last + "th"


def year(number: int) -> str:
    """A number from 1001 to 2999 as a year is read: "eighteen fifty-five", "two thousand six"."""
    if number == 2000:
        return "two thousand"
    if 2000 < number < 2010:
        return "two thousand " + cardinal(number % 100)
    high, low = divmod(number, 100)
    if low == 0:
        return cardinal(high) + " hundred"
    if low < 10:
        return f"{cardinal(high)} oh {_ONES[low]}"
    return f"{cardinal(high)} {cardinal(low)}"


def digits(text: str) -> str:
    """The ASCII digits of ``text`` one by one."""
    return ", ".join(_ONES[int(digit)] for digit in text)


def decimal(text: str) -> str:
    """ASCII digits with one point: ``"3.14"`` as "three point one four"."""
    whole, _, fraction = text.partition(".")
    words = f"point {spelt(fraction)}"
    return f"{quantity(whole)} {words}" if whole else words


def quantity(text: str) -> str:
    """How much the ASCII digits of ``text`` are: "fifteen hundred", "two thousand, thirty"."""
    if len(text) > _MOST_DIGITS:
        return spelt(text)
    number = int(text)
    if 1000 < number < 3000 and number % 1000 and number % 100 == 0:
        return year(number)
    return cardinal(number)


def spelt(text: str, zero: str = "zero") -> str:
    """The ASCII digits of ``text`` one by one without a pause: ``"907"`` as "nine zero seven"."""
    return " ".join(_ONES[int(digit)] if digit != "0" else zero for digit in text)


def pairs(text: str) -> str:
    """ASCII digits as in a name: ``"320"`` "three twenty", ``"4090"`` "forty ninety"."""
    if (text[:1] == "0" and len(text) > 1) or len(text) > 4:
        return spelt(text)
    if len(text) < 3 or text.endswith("00"):
        return quantity(text) if len(text) < 4 or text.endswith("000") else year(int(text))
    if text[-3:-1] == "00":
        return year(int(text)) if text[0] in "12" else cardinal(int(text))
    high, low = int(text[:-2]), int(text[-2:])
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def plural(words: str) -> str:
    """The plural of a number in words: "nineteen nineties", "sixes"."""
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith("x") else "s")


def roman(text: str) -> int | None:
    """The value of a Roman numeral in capitals below 90; None if ``text`` is none."""
    match = _ROMAN.fullmatch(text)
    if not text or match is None:
        return None
    tens, ones = match.groups()
    return 10 * _ROMAN_DIGITS.index(tens.translate(_TENS_AS_ONES)) + _ROMAN_DIGITS.index(ones)


def _hundreds(number: int, conjunction: And) -> str:
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _tens(rest)
    words = f"{_ONES[hundreds]} hundred"
    return words + conjunction.value + _tens(rest) if rest else words


def _tens(number: int) -> str:
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return f"{_TENS[tens]}-{_ONES[ones]}" if ones else _TENS[tens]
