"""Numbers with signs and units, and chains of them: ranges, fractions, scores, formulas."""

import re
from typing import NamedTuple

from twinvox.text.zh_context import Context
from twinvox.text.zh_numbers import digits, number, spelled
from twinvox.text.zh_units import OPERATORS, PERCENT, SIGNS, TEMPERATURES, UNITS, alternation

DASH = "[-–—~～〜]"
NUMBER = r"(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?"
SCALE = r"(?:[百千]?[万亿萬億]|万亿|百|千)?"
_NAMED_UNIT = alternation([*UNITS, *PERCENT, *TEMPERATURES])
UNIT = rf"(?:(?!g(?:内存|显存|流量|硬盘|网)){_NAMED_UNIT}(?:/{alternation(UNITS)})?)"
_OPERATOR = rf"(?:{DASH}|[+−×*÷/=^<>≤≥≈≠]|[xX](?= ?\d))"
_PART = rf" ?({_OPERATOR}) ?([-−]?)({NUMBER})({SCALE})(?: ?({UNIT}))?"
_PARTS = re.compile(_PART, re.ASCII)
QUANTITY = (
    rf"(?P<sign>(?<![A-Za-z0-9_)）+])[-−+±≥≤<>≈≠=√])? ?(?P<first>{NUMBER})(?P<scale>{SCALE})"
    rf"(?: ?(?P<unit>{UNIT}))?(?P<rest>(?:{_PART})*+)"
    r"(?P<more>\+(?![+A-Za-z0-9(（]))?"
)
_IS_DASH = re.compile(DASH)
_ZEROS = {"K": 3, "k": 3, "M": 6, "B": 9}


class _Part(NamedTuple):
    """A number of a chain such as "3~5kg" and what stands before it."""

    operator: str
    sign: str
    number: str
    scale: str
    unit: str


def read_quantity(match: re.Match[str]) -> str:
    """A match of `QUANTITY` in words."""
    chain = [_Part("", match["sign"] or "", match["first"], match["scale"], match["unit"] or "")]
    context = Context.of(match)
    if not match["rest"]:
        only = chain[0]
        if match["more"]:
            rounded = (only.scale or only.number.endswith("0")) and not context.is_named
            only = only._replace(scale=only.scale + ("多" if rounded else "加"))
        return _read(only, context, only.unit)
    chain += [_Part(*groups) for groups in _PARTS.findall(match["rest"])]
    operators = {part.operator for part in chain[1:]}
    if all(map(_IS_DASH.match, operators)):
        return _joined(chain, context)
    if operators == {"/"}:
        return _divided(chain, context)
    return _formula(chain)


def read_amount(text: str, scale: str) -> str:
    """A number that something is counted by: 两 rather than 二; "1.5" "M" is 一百五十万."""
    if scale in _ZEROS:
        whole, _, decimals = text.partition(".")
        shifted = decimals.ljust(_ZEROS[scale], "0")
        rest = shifted[_ZEROS[scale] :]
        return number(whole + shifted[: _ZEROS[scale]] + ("." + rest if rest else ""))
    return ("两" if text == "2" else number(text)) + scale


def unit_words(unit: str) -> str:
    """ "kg/m³" as 千克每立方米."""
    words = UNITS.get(unit) or TEMPERATURES.get(unit)
    if words is None and "/" in unit:
        return "每".join(map(unit_words, unit.split("/", 1)))
    return words or ""


def _joined(chain: list[_Part], context: Context) -> str:
    """Numbers with dashes between them: a range, a score or the parts of a code."""
    if len(chain) > 2 and context.is_code and all(part.number.isdigit() for part in chain):
        return "、".join(spelled(part.number) for part in chain)
    if len(chain) > 2 and context.after.startswith("阵"):
        return "".join(number(part.number) for part in chain)
    if len(chain) > 2 or context.is_named:
        return "杠".join(_read(part, context, part.unit) for part in chain)
    low, high = chain
    unit = low.unit or high.unit
    if not (unit or low.scale or high.scale or high.sign) and high.operator == "-":
        words = context.read_pair(low.number, high.number)
        if words:
            return words
    if unit in PERCENT and not low.unit:
        low, high = low._replace(unit=unit), high._replace(unit="")
    return f"{_read(low, context, unit)}到{_read(high, context, unit)}"


def _divided(chain: list[_Part], context: Context) -> str:
    if len(chain) != 2 or any(part.scale for part in chain):
        return "、".join(_read(part, context, part.unit) for part in chain)
    over, under = chain
    if context.is_year(over.number):
        return f"{digits(over.number)}到{digits(under.number)}"
    numbers = {over.number, under.number}
    born = context.is_named_after and all(re.fullmatch("[0-9][05]", text) for text in numbers)
    if numbers == {"985", "211"} or born:
        return f"{digits(over.number)}、{digits(under.number)}"
    if numbers == {"7", "24"}:
        return f"{number(over.number)}乘{_measured(number(under.number), under.unit)}"
    if over.unit or under.unit == "mmHg" or context.is_apart:
        per = over.unit and under.unit and under.number.strip("0") == "1"
        words = (_read(part, context, part.unit) for part in chain)
        return ("每" if per else "、").join(words)
    return SIGNS.get(over.sign, "") + _fraction(over, under)


def _fraction(over: _Part, under: _Part) -> str:
    return f"{number(under.number)}分之{number(over.number)}{unit_words(under.unit)}"


def _formula(chain: list[_Part]) -> str:
    words = ""
    at = 0
    while at < len(chain):
        part, following = chain[at], chain[at + 1 : at + 2]
        unit = "" if part.operator == "^" else part.unit
        if part.operator != "/" and following and following[0].operator == "/":
            value = _fraction(part, following[0])
            at += 1
        else:
            value = _measured(number(part.number) + part.scale, unit)
        value = SIGNS.get(part.sign, "") + value
        if part.operator == "^":
            words += f"的{value}次方{unit_words(part.unit)}"
        else:
            words += OPERATORS.get(part.operator, "到" if part.operator else "") + value
        at += 1
    return words


def _read(part: _Part, context: Context, unit: str) -> str:
    """One number with its sign and unit; ``unit`` is the one that counts for 两 and 零下."""
    sign = SIGNS.get(part.sign, "")
    if part.sign == "+" and not part.operator and context.is_added:
        sign = sign if unit in PERCENT or unit in TEMPERATURES else "加"
    if sign == "负":
        if unit in TEMPERATURES:
            sign = "零下"
        elif not part.operator and not unit and context.is_designation:
            sign = ""
    counted = part.scale not in ("", "加") or unit.split("/")[0] in UNITS
    if counted:
        words = read_amount(part.number, part.scale)
    else:
        words = context.read(part.number) + part.scale
    return sign + _measured(words, part.unit)


def _measured(words: str, unit: str) -> str:
    return PERCENT[unit] + words if unit in PERCENT else words + unit_words(unit)
