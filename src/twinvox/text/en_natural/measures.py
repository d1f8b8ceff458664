"""Money, units of measure, temperatures, feet and inches."""

import re

from twinvox.text.en_natural.amounts import AMOUNT, NUMBER, START, is_one, say_amount
from twinvox.text.en_natural.replace import Pass, ends_sentence, needs, spoken, word_set
from twinvox.text.en_natural.units import (
    CODES,
    COUNTRIES,
    CURRENCIES,
    DOTTED,
    MAGNITUDES,
    PER,
    POWERS,
    UNITS,
)
from twinvox.text.numbers import cardinal


def _any(names: "list[str] | dict[str, object]") -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


_SIGNS = "".join(map(re.escape, CURRENCIES))
_MAGNITUDE = (
    r"(?:[\s-]?(hundred thousand|thousand|million|billion|trillion)\b"
    r"|\s?(bn|mn|tn|trn|mil|mm)(?![^\W_])|([kKmMbBtT]|(?<=\d) [mM])(?![^\W_])(?!\$))?"
)
_PER_UNIT = rf"(?:/({_any([*PER, 'kg', 'lb', 'km', 'mi', 'GB', 'oz', 'g'])})(?![^\W_]))?"
_MONEY = re.compile(
    rf"(?<![^\W_])([-−]?)(US|CA|AU|NZ|HK|[CASR])?(?<![^\W_]\$)([{_SIGNS}])\s?"
    rf"(-?{NUMBER}(?:\s?[-–—]\s?[{_SIGNS}]?{NUMBER})?){_MAGNITUDE}(?:\s?USD\b)?{_PER_UNIT}"
)
_MONEY_TO_MONEY = re.compile(rf"(?<=\d[kKmMbBn])\s?[-–—]\s?(?=[{_SIGNS}]\d)")
_MONEY_AFTER = re.compile(rf"({AMOUNT}){_MAGNITUDE}\s?([{_SIGNS}])(?!\s?\d){_PER_UNIT}")
_CODE = _any([*CODES])
_CODE_BEFORE = re.compile(rf"\b({_CODE})\s?({NUMBER}){_MAGNITUDE}")
_CODE_AFTER = re.compile(rf"({AMOUNT}){_MAGNITUDE}\s?({_CODE})\b")
_UNIT = _any([*UNITS])
_MEASURE = re.compile(
    rf"({AMOUNT})(\s|-)?(?:(sq|cu)\.?\s)?({_UNIT})(²|³|(?<=m)[23](?!\d))?"
    rf"(?:/({_UNIT}|{_any([*PER])})(²|³)?)?(?![^\W_]|[-/][A-Z]|\^)(\.)?"
)
_COUNTED = (
    "people|users|views|followers|dollars|euros|pounds|subscribers|downloads|copies|customers|"
    "homes|jobs|tons|viewers"
)
_MILLIONS = re.compile(
    rf"({AMOUNT})\s?([MmBbKk]|bn|mn)(?= (?:{_COUNTED})\b)"
    rf"|({START}(?!3M){NUMBER})(M|bn|mn)(?![^\W_])"
)
_FEET = re.compile(
    rf"{START}(\d{{1,3}})(?:'|′|\s?ft\.?)\s?(\d{{1,2}}(?:\.\d+)?|\d{{0,2}}½)"
    r"(?:\"|″|''|′′|\s?in\b\.?)"
    rf"|{START}(\d{{1,2}})['′](\d{{1,2}})(?![^\W_'])"
)
_PRIMES = re.compile(rf"({AMOUNT})(?:(′|'(?= (?:tall|wide|long|high|deep)\b))|″)")
_ANGLE = re.compile(
    rf"{START}(\d{{1,3}})°\s?(\d{{1,2}})[′']\s?(?:(\d{{1,2}}(?:\.\d+)?)(?:″|\"|''))?"
)
_DURATION = re.compile(rf"{START}(\d{{1,3}})h\s?(\d{{1,2}})(?:m|min)(?:\s?(\d{{1,2}})s)?(?![^\W_])")
_PRICED = re.compile(
    r"[\s-](?:bills?|notes?|coins?|fees?|fines?|tickets?|budget|deal|loan|gift|prize|grant|bonus|"
    r"bargain|checks?|cheques?|menu|stamps?)\b"
)
_ATTRIBUTIVE = word_set("W kW V kV Hz kHz MHz GHz KB MB GB TB MP px")
_SINGLE_BEFORE = re.compile(r"(?<![^\W_])(?:[Aa]n?|[Ee]very|[Ee]ach|[Aa]nother|[Oo]ne) \Z")
_NOUN_AFTER = re.compile(
    r"[\s-](?!(?:and|or|in|on|of|for|to|per|from|as|at|by|if|is|are|was|were|but|with|than|that|"
    r"the|a|an|each|more|less|when|which|will|would|into|over|ago|later|away|every)\b)[A-Za-z][a-z]"
)


def say_money(text: str) -> str:
    """``text`` with amounts of money in words: "$260 million", "£1.2m", "20€", "USD 5"."""
    text = _MONEY_TO_MONEY.sub(" to ", text)
    text = _MONEY_AFTER.sub(_money_after, _MONEY.sub(_money, text))
    return _CODE_AFTER.sub(_code_after, _CODE_BEFORE.sub(_code_before, text))


def say_lengths(text: str) -> str:
    """``text`` with feet and inches, and minutes of arc, in words."""
    return _PRIMES.sub(_primes, _FEET.sub(_feet, _ANGLE.sub(_angle, text)))


def say_measures(text: str) -> str:
    """``text`` with numbers and their units in words: "5 km/h", "20°C", "16GB", "5M users"."""
    text = _DURATION.sub(_duration, text)
    return _MEASURE.sub(_measure, _MILLIONS.sub(_millions, text))


def _single(match: re.Match[str], hyphen: bool = False) -> bool:
    """Whether the unit describes a noun: "a five dollar bill", "a 5-km run"."""
    text, start = match.string, match.start()
    return (
        hyphen or _SINGLE_BEFORE.search(text, max(0, start - 9), start) is not None
    ) and _NOUN_AFTER.match(text, match.end()) is not None


def _money(match: re.Match[str]) -> str:
    sign, country, symbol, amount, word, short, letter, per = match.groups()
    magnitude = word or _magnitude(short or letter)
    if amount[0] == "-":
        sign, amount = "-", amount[1:]
    amount = amount.translate({ord(symbol): None})
    names = CURRENCIES[symbol]
    single = _single(match) or _PRICED.match(match.string, match.end()) is not None
    words = _price(amount, magnitude, COUNTRIES.get(country or "", ""), names, single)
    return spoken(match, ("minus " if sign else "") + words + _per(per))


def _magnitude(letters: str | None) -> str | None:
    return MAGNITUDES[letters.strip().lower()] if letters else None


def _price(
    amount: str, magnitude: str | None, country: str, names: tuple[str, ...], single: bool
) -> str:
    one, several, hundredth, hundredths = names
    whole, _, cents = amount.replace(",", "").partition(".")
    if len(cents) == 2 and cents.isdigit() and not magnitude and (whole.isdigit() or not whole):
        whole, small = whole.lstrip("0"), int(cents)
        parts = []
        if whole or not small:
            name = one if whole == "1" or single else several
            parts.append(f"{say_amount(whole or '0')} {country}{name}")
        if small:
            parts.append(f"{cardinal(small)} {hundredth if small == 1 else hundredths}")
        return ", ".join(parts)
    name = one if single or (is_one(amount) and not magnitude) else several
    return f"{say_amount(amount)} {magnitude + ' ' if magnitude else ''}{country}{name}"


def _money_after(match: re.Match[str]) -> str:
    amount, word, short, letter, symbol, per = match.groups()
    magnitude = word or _magnitude(short or letter)
    return spoken(
        match, _price(amount, magnitude, "", CURRENCIES[symbol], _single(match)) + _per(per)
    )


def _code_before(match: re.Match[str]) -> str:
    code, amount, word, short, letter = match.groups()
    return _coded(match, code, amount, word or _magnitude(short or letter))


def _code_after(match: re.Match[str]) -> str:
    amount, word, short, letter, code = match.groups()
    return _coded(match, code, amount, word or _magnitude(short or letter))


def _coded(match: re.Match[str], code: str, amount: str, magnitude: str | None) -> str:
    names = (*CODES[code], "cent", "cents")
    return spoken(match, _price(amount, magnitude, "", names, single=False))


def _per(unit: str | None) -> str:
    if not unit:
        return ""
    return f" per {PER.get(unit) or UNITS[unit][0]}"


def _millions(match: re.Match[str]) -> str:
    amount, letters = match.group(1) or match.group(3), match.group(2) or match.group(4)
    return spoken(match, f"{say_amount(amount)} {MAGNITUDES[letters.lower()]}")


def _measure(match: re.Match[str]) -> str:
    amount, gap, power, unit, raised, per, per_raised, stop = match.groups()
    if stop and (
        unit not in DOTTED or ends_sentence(match.string, match.end(), before_capital=True)
    ):
        full_stop = "."
    else:
        full_stop = ""
    of_follows = match.string.startswith(" of ", match.end())
    if not _is_unit(unit, amount, gap, bool(stop) and not full_stop, of_follows):
        return match.group()
    attributive = gap == "-" or (gap is None and unit in _ATTRIBUTIVE)
    single = is_one(amount) or _single(match, hyphen=attributive)
    name = _unit_name(unit, single, raised or power)
    if per:
        rate = UNITS[per][0] if per in UNITS else PER[per]
        name += " per " + rate + {"²": " squared", "³": " cubed"}.get(per_raised or "", "")
    return spoken(match, f"{say_amount(amount)} {name}{full_stop}")


def _is_unit(unit: str, amount: str, gap: str | None, abbreviated: bool, of_follows: bool) -> bool:
    """Whether letters after a number are a unit: "5 in" hardly ever is, "5s" is a plural."""
    if unit == "in":
        return abbreviated
    if unit == "s" and gap is None:
        return "." in amount
    if unit == "g" and gap is None and amount in ("2", "3", "4", "5", "6"):
        return of_follows  # "5g of sugar", not the network
    return unit != "MP" or gap is None or "." in amount


def _unit_name(unit: str, single: bool, power: str | None) -> str:
    one, several = UNITS[unit]
    name = one if single else several or one + "s"
    return POWERS[power] + name if power else name


def _feet(match: re.Match[str]) -> str:
    feet, inches = match.group(1) or match.group(3), match.group(2) or match.group(4)
    return spoken(match, f"{say_amount(feet)} foot {say_amount(inches)}")


def _primes(match: re.Match[str]) -> str:
    amount = match[1]
    name = _unit_name("ft" if match[2] else "in", is_one(amount), None)
    return spoken(match, f"{say_amount(amount)} {name}")


def _angle(match: re.Match[str]) -> str:
    return _parts(match, ("degree", "minute", "second"))


def _duration(match: re.Match[str]) -> str:
    return _parts(match, ("hour", "minute", "second"))


def _parts(match: re.Match[str], names: tuple[str, str, str]) -> str:
    parts = [
        f"{say_amount(part)} {name}{'' if part == '1' else 's'}"
        for part, name in zip(match.groups(), names, strict=True)
        if part
    ]
    return spoken(match, " ".join(parts))


_UNIT_WORDS = {unit.lower() for unit in UNITS if unit.isalpha()} - {"in"}
MONEY = Pass(say_money, needs("".join(CURRENCIES), (code.lower() for code in CODES)))
LENGTHS = Pass(say_lengths, needs("′″'°", ["ft"]))
MEASURES = Pass(
    say_measures, needs("%‰°¢²³Ωµ", {*_UNIT_WORDS, "m", "b", "k", "bn", "mn", "in.", "sq"})
)
