"""The numbers that are left: versions, ranges, scores, fractions, ordinals, serials, cardinals."""

import re

from twinvox.text.en_natural.amounts import NUMBER, SIGN, START, VULGAR, say_amount, say_fraction
from twinvox.text.en_natural.replace import (
    LETTER_BESIDE_DIGIT,
    STOP_BEFORE_DIGIT,
    Pass,
    needs,
    spoken,
)
from twinvox.text.numbers import cardinal, decimal, ordinal, pairs, plural, quantity, spelt, year

_MOST_ORDINAL_DIGITS = 15
_LONG_DIGITS = 10  # from here on a number names something, unless it is round
_SPELT_SERIALS = {"CO2": "C O two", "NO2": "N O two", "SO2": "S O two", "NO3": "N O three"}
_SAID_IN_PAIRS = {"9/11": "nine eleven", "7/7": "seven seven", "24/7": "twenty-four seven"}
_MOST_LETTER_CHANGES = 4  # an id such as 3f9a0c changes more often between letters and digits

_COMMAS = re.compile(r"(?<!\d)(?<!\d[,.])\d++(?:,\d++)++")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}")
_SPACED_GROUPS = re.compile(
    r"(?<![\w.,])(?<!\d )\d{1,3}(?:(?: \d{3}){2,}+"
    r"|(?:[\u00a0\u2009\u202f]\d{3})++)(?![\w]|[.,]?\d| \d)"
)
_VERSION = re.compile(
    r"(?<![\w.])((?:[Vv]ersion )?v\.?|[Vv]ersion )?(?<![\d.])(\d++(?:\.\d++)*+)(?![^\W_])"
)
_RATIO = re.compile(r"(?<![\w:.,])\d++(?:\.\d++)?(?::\d++(?:\.\d++)?)++(?![\w:])")
_BY = re.compile(r"(?<![\w.,])(?!0x)(\d++(?:\.\d++)?)(?:[x×]| x )(?=\d++(?![A-Za-z]))")
_FRACTION = re.compile(
    r"(?<![\w/.,])(?:(\d{1,4})[ -])?(\d{1,15}+)/(\d{1,15}+)(?:ths?|rds?|nds?)?(?![\w/]|[.,]\d)"
)
_VULGAR = re.compile(rf"(?:(?<!\d)(\d{{1,9}}+) ?)?([{''.join(VULGAR)}])")
_RANGE = re.compile(
    rf"{START}([-−]?{NUMBER})(?:\s?[–—]\s?|-| - )({NUMBER})(?![^\W_]|-\d|[/:]\d| ?=)"
)
_CHAIN = re.compile(r"(?<![\w.,/–-])\d++(?:[-–/]\d++){2,}+(?![\w/]|[-–])")
_ORDINAL = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:,\d{3})++|\d++)(?:st|nd|rd|th)(?=s?(?![^\W_]))", re.IGNORECASE
)
_PLURAL = re.compile(r"(?<![\w.,])(\d++)'?s(?![^\W_])")
_SERIAL = re.compile(
    r"(?<![^\W_])(?<!\d\.)(?:[A-Za-z]++-?\d|\d++(?:\.\d++)?[A-Za-z])[A-Za-z0-9]*+(?:\.\d++)*+(?:-[A-Za-z0-9]++)*+"
)
_SERIAL_PART = re.compile(r"[A-Za-z]+|\d+|[.-]")
_NUMBER = re.compile(rf"{START}{SIGN}{NUMBER}")
_SIGN_LEFT = re.compile(r"(?<![\w)\]}'\"-])[-−](?=\d)")
_DIGITS = re.compile(r"\d+")


def _by(match: re.Match[str]) -> str:
    return spoken(match, _in_pairs(match[1]) + " by ").replace("  ", " ")


def say_groups(text: str) -> str:
    """``text`` with commas and spaces only between thousands; those of lists get a space."""
    return _SPACED_GROUPS.sub(_joined, _COMMAS.sub(_commas, text))


def say_versions(text: str) -> str:
    """ "v2.0.1"."""
    return _VERSION.sub(_version, text)


def say_ratios(text: str) -> str:
    """ "16:9"."""
    return _RATIO.sub(lambda m: spoken(m, " to ".join(map(_say, m[0].split(":")))), text)


def say_sizes(text: str) -> str:
    """ "1920x1080"."""
    return _BY.sub(_by, text)


def say_fractions(text: str) -> str:
    """ "2 1/2", "2½", "24/7"."""
    return _VULGAR.sub(lambda m: spoken(m, say_amount(m[0])), _FRACTION.sub(_fraction, text))


def say_ranges(text: str) -> str:
    """ "10-15", "3–7", "3-1", and longer chains such as an ISBN part by part."""
    text = _CHAIN.sub(lambda m: spoken(m, ", ".join(map(pairs, _DIGITS.findall(m[0])))), text)
    return _RANGE.sub(_range, text)


def say_serials(text: str) -> str:
    """ "1st", "737s", "A320", "COVID-19", "10x"."""
    text = _PLURAL.sub(lambda m: spoken(m, plural(_in_pairs(m[1]))), _ORDINAL.sub(_ordinal, text))
    return _SERIAL.sub(_serial, text)


def say_numbers(text: str) -> str:
    """``text`` with every ASCII digit in words."""
    text = _NUMBER.sub(lambda m: spoken(m, _signed(m[0])), text)
    text = _SIGN_LEFT.sub("minus ", text)
    return _DIGITS.sub(lambda m: spoken(m, _say(m[0])), text)


def _range(match: re.Match[str]) -> str:
    low, high = match.groups()
    if low.isdigit() and high.isdigit() and len(low) == len(high) == 3 and low > high:
        return spoken(match, f"{pairs(low)} {pairs(high)}")  # a name such as 747-400
    joint = "dash" if len(low) > len(high) + 1 and not _is_year(low) else "to"  # ISO 639-2
    return spoken(match, f"{_signed(low)} {joint} {_say(high)}")


def _is_year(text: str) -> bool:
    return len(text) == 4 and text[0] in "12" and text.isdigit()


def _signed(text: str) -> str:
    """A number that may have a sign, commas and a point."""
    if text[0].isdigit() or text[0] == ".":
        return _say(text)
    sign = {"+": "plus", "±": "plus or minus"}.get(text[0], "minus")
    return f"{sign} {_say(text[1:])}"


def _say(text: str) -> str:
    """ASCII digits, perhaps with commas and a point; four digits alone are read as a year."""
    if "." in text:
        return decimal(text.replace(",", ""))
    if "," in text:
        return quantity(text.replace(",", ""))
    if len(text) > 1 and text[0] == "0":
        return spelt(text)
    if len(text) >= _LONG_DIGITS and 2 * len(text.rstrip("0")) > len(text):
        return spelt(text)
    if _is_year(text) and text != "1000":
        return year(int(text))
    return quantity(text)


def _in_pairs(text: str) -> str:
    return decimal(text) if "." in text else pairs(text)


def _joined(match: re.Match[str]) -> str:
    return "".join(_DIGITS.findall(match[0]))


def _commas(match: re.Match[str]) -> str:
    """Thousands keep their commas; others are the commas of a list."""
    text = match.group()
    if _GROUPED.fullmatch(text):
        return text if len(text) < 3 or _is_western(text) else text.replace(",", "")
    return text.replace(",", ", ")


def _is_western(text: str) -> bool:
    return all(len(group) == 3 for group in text.split(",")[1:])


def _version(match: re.Match[str]) -> str:
    prefix, number = match.groups()
    parts = number.split(".")
    if prefix is None and len(parts) < 3:
        return match.group()
    said = [spelt(part) if len(part) > 1 and part[0] == "0" else _say(part) for part in parts]
    word = f"{prefix[0]}ersion " if prefix else ""
    return spoken(match, word + " point ".join(said))


def _fraction(match: re.Match[str]) -> str:
    whole, top, bottom = match.groups()
    text = f"{top}/{bottom}"
    if text in _SAID_IN_PAIRS and not whole:
        return spoken(match, _SAID_IN_PAIRS[text])
    if top == bottom and len(top) == 2:
        return spoken(match, f"{cardinal(int(top))}-{cardinal(int(bottom))}")
    numerator, denominator = int(top), int(bottom)
    if not _is_fraction(numerator, denominator):
        words = f"{_say(top)} over {_say(bottom)}"
    else:
        words = say_fraction(numerator, denominator)
    if whole:
        joint = " and " if numerator < denominator else " "
        words = quantity(whole) + joint + ("a half" if text == "1/2" else words)
    return spoken(match, words)


def _is_fraction(numerator: int, denominator: int) -> bool:
    """Whether two numbers are read as a part and not one over the other."""
    named = 2 <= denominator <= 20 or denominator in (32, 64, 100, 1000)
    return named and (numerator <= 20 or numerator < denominator)


def _ordinal(match: re.Match[str]) -> str:
    digits = match[1].replace(",", "")
    if len(digits) > _MOST_ORDINAL_DIGITS:
        return match.group()
    return spoken(match, ordinal(int(digits)))


def _serial(match: re.Match[str]) -> str:
    """ "A320", "COVID-19", "GPT-4o", "10x", "top-10", "0x1F"."""
    text = match.group()
    if text in _SPELT_SERIALS:
        return spoken(match, _SPELT_SERIALS[text])
    if text[0].isdigit() and text.endswith("ish") and text[:-3].isdigit():
        return spoken(match, f"{_say(text[:-3])}-ish")
    parts: list[str] = _SERIAL_PART.findall(text)
    kinds = "".join("9" if part.isdigit() else "a" if part.isalpha() else "" for part in parts)
    if len(kinds) > _MOST_LETTER_CHANGES:
        groups = (" ".join(map(_character, group)) for group in text.split("-"))
        return spoken(match, ", ".join(groups))
    words: list[str] = []
    glue = ""
    for i, part in enumerate(parts):
        if part == "-":
            lower = i > 0 and len(parts[i - 1]) > 1 and parts[i - 1].islower()
            lower = lower or (
                i + 1 < len(parts) and len(parts[i + 1]) > 1 and parts[i + 1].islower()
            )
            glue = "-" if lower else " "
        elif part == ".":
            glue = " point "
        else:
            said = _serial_part(part, parts[i - 1] if i else "")
            if words and glue == " " and words[-1] == "A":
                glue = "-"
            words += [glue if words else "", said]
            glue = "-" if part == "A" else " "
    return spoken(match, "".join(words))


def _serial_part(part: str, before: str) -> str:
    if not part.isdigit():
        return part
    if before == "." or len(part) > 4 or (len(part) > 1 and part[0] == "0"):
        return spelt(part)
    return pairs(part)


def _character(char: str) -> str:
    if char.isdigit():
        return spelt(char)
    return "point" if char == "." else char.upper()


NUMERALS = (
    Pass(say_groups, needs(",\u00a0\u2009\u202f", ["1 000"])),
    Pass(say_versions, needs("", [STOP_BEFORE_DIGIT, "v", "version"])),
    Pass(say_ratios, needs(":")),
    Pass(say_sizes, needs("×", ["x"])),
    Pass(say_ranges, needs("-–—−/")),
    Pass(say_fractions, needs("/" + "".join(VULGAR))),
    Pass(say_serials, needs("'", [LETTER_BESIDE_DIGIT])),
    Pass(say_numbers),
)
