"""English number words, spelt as the normaliser of LuxTTS spells them."""

from enum import Enum

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


class And(Enum):
    """Whether "and" stands before the last two digits of a number."""

    SPOKEN = " and "
    DROPPED = " "


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
