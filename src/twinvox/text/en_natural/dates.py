"""Dates, decades, times of day."""

import re

from twinvox.text.en_natural.replace import STOP_BEFORE_DIGIT, Pass, ends_sentence, needs, spoken
from twinvox.text.numbers import cardinal, ordinal, pairs, plural, spelt, year

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_MONTH_NUMBERS = {name: i for i, name in enumerate(_MONTHS, 1)}
_MONTH_NUMBERS |= {name[:3]: i for name, i in _MONTH_NUMBERS.items()} | {"Sept": 9}
_WEEKDAYS = {
    "Mon": "Monday", "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday",
    "Thur": "Thursday", "Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday", "Sun": "Sunday",
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_WEEKDAY = "|".join(sorted(_WEEKDAYS, key=len, reverse=True))
_OCLOCK = "o'clock"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_NO_MORE = r"(?![^\W_]|[:/.,]\d|\s?%)"

_ISO = re.compile(
    r"(?<![\w/.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})"
    r"(?:(?:T|\s)(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?\s?(Z|[+-]\d\d:?\d\d)?)?(?![\w/]|[-.]\d)"
)
_NUMERIC = re.compile(r"(?<![\w/.-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|(?<=/)\d{2})(?![\w/]|[-.]\d)")
_MONTH_DAY = re.compile(
    rf"\b({_MONTH})(?:\.|\b)\s?({_DAY})(?:st|nd|rd|th)?(?:\s?[-–]\s?({_DAY})(?:st|nd|rd|th)?)?"
    rf"(?:(,?\s)(\d{{4}}))?{_NO_MORE}"
)
_DAY_MONTH = re.compile(
    rf"(?<![\w$.,/:-])(?:([Tt]he )?({_DAY})(?:st|nd|rd|th)?(?:\s?[-–]\s?({_DAY})(?:st|nd|rd|th)?)?"
    rf"(?:\s(?:of\s)?|-)({_MONTH})\b\.?(?:(?:,?\s|-)(\d{{4}}){_NO_MORE})?)"
)
_ON_DATE = re.compile(
    rf"\b([Oo]n|[Dd]ated|[Dd]ue|(?:[Bb]y|[Uu]ntil|[Bb]efore|[Aa]fter|[Ss]ince)"
    rf"(?= \d\d?/(?!(?:[2-58]|10|16)\b))) ([1-9]|1[0-2])/({_DAY})(?![\w/])"
)
_DATE_TO_DATE = re.compile(rf"(?<=\d) ?[–—-] ?(?={_DAY} (?:{_MONTH})\b|(?:{_MONTH})\b\.? {_DAY}\b)")
_NAME_ALONE = re.compile(
    r"\b(Jan|Feb|Mar|Apr|Aug|Sept|Oct|Nov|Dec|(?<!the )(?:Mon|Tues?|Wed|Thurs?|Fri|Sat|Sun))\."
)
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\.?(?=,?\s\d{{4}}\b)")
_WEEKDAYS_TO = re.compile(rf"\b({_WEEKDAY})\.?\s?[-–]\s?({_WEEKDAY})\b\.?")
_WEEKDAY_DATE = re.compile(rf"\b({_WEEKDAY})\b\.?(?=,?\s(?:{_MONTH}|\d))")
_DECADE = re.compile(r"(?<![^\W_])'?(\d{1,2}0)'?s(?![^\W_])|(?<![^\W_])'(\d\d)(s?)(?![^\W_])")
_SHORT_YEARS = re.compile(r"(?<![\w-])(1[0-9]|20)(\d\d)\s?[-–/]\s?(\d\d)(?![\w/]|[-.:,]\d)")
_LONG_YEARS = re.compile(r"(?<![\w-])([12]\d{3})\s?[-–—]\s?([12]\d{3})(?![\w/]|[-.:,]\d)")
_SECONDS_BEFORE = re.compile(
    r"\b(?:for|after|within|every|takes?|took|wait|last) \Z", re.IGNORECASE
)

_VERSE = re.compile(
    r"\b(Genesis|Exodus|Leviticus|Deuteronomy|Joshua|Judges|Ruth|Samuel|Kings|Job|Psalms?|Proverbs|"
    r"Isaiah|Jeremiah|Ezekiel|Daniel|Matthew|Mark|Luke|John|Acts|Romans|Corinthians|Galatians|"
    r"Ephesians|Hebrews|James|Peter|Revelation) (\d{1,3}):(\d{1,3})(?![\w:])"
)
_RACE_TIME = re.compile(r"(?<![\w:.,])(\d{1,2}):([0-5]\d)\.(\d{1,3})(?![\w:]|\.\d)")
_CLOCK = r"([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?"
_HALF = r"(?:\s?([AaPp])(?:\.\s?[Mm]\b\.?|[Mm]\b))"
_TIMES = re.compile(
    rf"(?<![\w:.,/$€£-])(?:{_CLOCK}|(1[0-2]|0?[1-9]))(?:{_HALF})?\s?[-–—]\s?"
    rf"(?:{_CLOCK}{_HALF}?|(1[0-2]|0?[1-9]){_HALF})(?=ish\b|[^\w:]|:(?!\d)|\Z)"
)
_TIME = re.compile(
    rf"(?<![\w:.,/$€£])(?<!\d-)(?:{_CLOCK}{_HALF}?|(1[0-2]|0?[1-9]){_HALF})"
    r"(?=ish\b|[^\w:]|:(?!\d)|\Z)"
)
_TIME_ZONE = re.compile(
    r"\s(?:[A-Z]{2,4}T|UTC|GMT|ET|PT|CT|MT|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
)


def say_dates(text: str) -> str:
    """``text`` with dates in figures in words; one such as 3/4/2025 is read month first."""
    text = _ON_DATE.sub(_on_date, _NUMERIC.sub(_numeric, _ISO.sub(_iso, text)))
    return _SHORT_YEARS.sub(_short_years, _LONG_YEARS.sub(_long_years, text))


def say_months(text: str) -> str:
    """``text`` with days and years beside the name of a month in words: "Sept. 28, 2025"."""
    text = _DATE_TO_DATE.sub(" to ", text)
    text = _DAY_MONTH.sub(_day_month, _MONTH_DAY.sub(_month_day, text))
    return _MONTH_YEAR.sub(lambda m: _MONTHS[_MONTH_NUMBERS[m[1]] - 1], text)


def say_decades(text: str) -> str:
    """``text`` with decades and shortened years in words: "the 1990s", "'90s", "summer of '69"."""
    return _DECADE.sub(_decade, text)


def say_names_of_days(text: str) -> str:
    """``text`` with the short names of months and weekdays in full."""
    text = _WEEKDAYS_TO.sub(lambda m: f"{_WEEKDAYS[m[1]]} to {_WEEKDAYS[m[2]]}", text)
    text = _WEEKDAY_DATE.sub(lambda m: _WEEKDAYS[m[1]], text)
    return _NAME_ALONE.sub(_name_alone, text)


def say_times(text: str) -> str:
    """``text`` with times of day, and chapter and verse, in words."""
    text = _RACE_TIME.sub(_race_time, text)
    text = _VERSE.sub(lambda m: f"{m[1]} {cardinal(int(m[2]))} {cardinal(int(m[3]))}", text)
    return _TIME.sub(_time, _TIMES.sub(_times, text))


def _iso(match: re.Match[str]) -> str:
    y, _, month, day, hour, minute, second, zone = match.groups()
    words = _date(int(y), int(month), int(day))
    if words is None:
        return match.group()
    if hour is None:
        return spoken(match, words)
    zone = " UTC" if zone == "Z" else ""
    return spoken(match, f"{words}, {_clock(hour, minute, second, False)}{zone}")


def _numeric(match: re.Match[str]) -> str:
    first, _, second, y = match.groups()
    month, day = int(first), int(second)
    if month > 12:
        month, day = day, month
    words = _date(int(y) + (0 if len(y) == 4 else 2000 if int(y) < 50 else 1900), month, day)
    return match.group() if words is None else spoken(match, words)


def _date(y: int, month: int, day: int) -> str | None:
    if not (1 <= month <= 12 and 1 <= day <= 31 and y):
        return None
    return f"{_MONTHS[month - 1]} {ordinal(day)}, {_year(y)}"


def _year(number: int) -> str:
    return year(number) if 1000 < number < 3000 else cardinal(number)


def _on_date(match: re.Match[str]) -> str:
    return f"{match[1]} {_MONTHS[int(match[2]) - 1]} {ordinal(int(match[3]))}"


def _month_day(match: re.Match[str]) -> str:
    month, day, last, _, y = match.groups()
    words = f"{_MONTHS[_MONTH_NUMBERS[month] - 1]} {ordinal(int(day))}"
    if last:
        words += f" to {ordinal(int(last))}"
    return spoken(match, f"{words}, {_year(int(y))}" if y else words)


def _day_month(match: re.Match[str]) -> str:
    the, day, last, month, y = match.groups()
    end = match.end()
    name = _MONTHS[_MONTH_NUMBERS[month] - 1]
    words = (
        f"{the or 'the '}{ordinal(int(day))}{f' to {ordinal(int(last))}' if last else ''} of {name}"
    )
    if y:
        words += f", {_year(int(y))}"
    dot = match.group().endswith(".") and ends_sentence(match.string, end, before_capital=True)
    return spoken(match, words + ("." if dot else ""))


def _name_alone(match: re.Match[str]) -> str:
    name = _WEEKDAYS.get(match[1]) or _MONTHS[_MONTH_NUMBERS[match[1]] - 1]
    return name + ("." if ends_sentence(match.string, match.end(), before_capital=True) else "")


def _long_years(match: re.Match[str]) -> str:
    return spoken(match, f"{_year(int(match[1]))} to {_year(int(match[2]))}")


def _short_years(match: re.Match[str]) -> str:
    century, first, last = match.groups()
    if int(last) <= int(first):
        return match.group()
    low = f" oh {cardinal(int(last))}" if int(last) < 10 else f" {cardinal(int(last))}"
    return spoken(match, f"{_year(int(century + first))} to{low}")


def _decade(match: re.Match[str]) -> str:
    tens, short, s = match.groups()
    if tens is None:
        if s:
            return spoken(match, plural(pairs(short)))
        return spoken(match, pairs(short))
    before = match.string[max(0, match.start() - 12) : match.start()]
    if len(tens) == 2 and "'" not in match.group() and _SECONDS_BEFORE.search(before):
        return spoken(match, f"{cardinal(int(tens))} seconds")
    return spoken(match, plural(pairs(tens)))


def _times(match: re.Match[str]) -> str:
    h1, m1, s1, bare1, half1, h2, m2, s2, half2, bare2, half3 = match.groups()
    half = half2 or half3
    if m1 is None and half1 is None and half is None and m2 is None:
        return match.group()
    low = _clock(h1 or bare1, m1, s1, bool(half1)) + _half(half1)
    high = _clock(h2 or bare2, m2, s2, bool(half))
    return spoken(match, f"{low} to {high}{_ending(match, half)}")


def _time(match: re.Match[str]) -> str:
    hour, minute, second, half, bare, bare_half = match.groups()
    half = half or bare_half
    words = _clock(hour or bare, minute, second, bool(half)) + _ending(match, half)
    return words + "-" if match.string.startswith("ish", match.end()) else spoken(match, words)


def _race_time(match: re.Match[str]) -> str:
    return spoken(match, f"{_clock(match[1], match[2], None, True)} point {spelt(match[3])}")


def _half(half: str | None) -> str:
    return f" {half.upper()}M" if half else ""


def _ending(match: re.Match[str], half: str | None) -> str:
    """ "PM", with the full stop that ended the sentence as well as "p.m."."""
    if half is None or not match.group().endswith("."):
        return _half(half)
    text, end = match.string, match.end()
    if _TIME_ZONE.match(text, end) or not ends_sentence(text, end, before_capital=True):
        return _half(half)
    return _half(half) + "."


def _clock(hour: str, minute: str | None, second: str | None, twelve: bool) -> str:
    h = int(hour)
    if minute is None:
        return cardinal(h)
    m = int(minute)
    if m:
        words = f"{cardinal(h)} {'oh ' if m < 10 else ''}{cardinal(m)}"
    elif twelve:
        words = cardinal(h)
    elif h == 0 and second is None:
        words = "midnight"
    else:
        words = f"{cardinal(h)} {'hundred' if h > 12 or h == 0 else _OCLOCK}"
    if second is not None and int(second):
        words += f" and {cardinal(int(second))} second{'' if int(second) == 1 else 's'}"
    return words


_DAY_WORDS = {name.lower() for name in _WEEKDAYS}
_MONTH_WORDS = {name.lower() for name in _MONTH_NUMBERS}
NAMES_OF_DAYS = Pass(say_names_of_days, needs("", _DAY_WORDS | _MONTH_WORDS), digits=False)
DATES = Pass(say_dates, needs("-/–—", [STOP_BEFORE_DIGIT]))
MONTHS = Pass(say_months, needs("", _MONTH_WORDS))
DECADES = Pass(say_decades, needs("'", ["s"]))
TIMES = Pass(say_times, needs(":", ["am", "pm", "m"]))
