"""How figures are read in Mandarin: dates, times, money, measures, ranges, telephone numbers.

Each rule is a pattern and a reader; at every place the first rule that matches wins. The patterns
are bounded or possessive and a number that no rule wants is read as a quantity, so that the time is
linear in the text.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from twinvox.text.zh_context import Context
from twinvox.text.zh_numbers import cardinal, digits, number, spelled
from twinvox.text.zh_quantities import (
    DASH,
    NUMBER,
    QUANTITY,
    SCALE,
    UNIT,
    read_amount,
    read_quantity,
    unit_words,
)
from twinvox.text.zh_units import (
    COUNTED_WITH_LIANG,
    CURRENCIES,
    CURRENCY_WORDS,
    alternation,
)

_Match = re.Match[str]


_HALVES = {"a": "上午", "p": "下午"}
_ANNIVERSARIES = {"101": "十一", "1111": "双十一", "1212": "双十二"}


class Rule(NamedTuple):
    name: str
    pattern: str
    read: Callable[[_Match], str]


def _unpadded(text: str) -> str:
    return cardinal(str(int(text)))


def _digits_of(match: _Match) -> str:
    return "".join(filter(str.isdigit, match.group()))


def _date(match: _Match) -> str:
    return _day_words(match.group())


def _date_range(match: _Match) -> str:
    first, last = match["date_from"] or match["month_from"], match["date_to"] or match["month_to"]
    return f"{_day_words(first)}到{_day_words(last)}"


def _day_words(text: str) -> str:
    """A date of year, month and day, of year and month, or of month and day."""
    parts = re.split(r"\D", text)
    year = f"{digits(parts.pop(0))}年" if len(parts[0]) == 4 else ""
    month, *day = map(_unpadded, parts)
    return f"{year}{month}月" + (f"{day[0]}日" if day else "")


def _clock(text: str) -> str:
    hour, minute, *second = re.split("[:：]", text)
    words = ("两" if int(hour) == 2 else _unpadded(hour)) + "点"
    if second and int(second[0]):
        return words + _sixtieth(minute) + "分" + _sixtieth(second[0]) + "秒"
    return words + (_sixtieth(minute) + "分" if int(minute) else "")


def _duration(text: str) -> str:
    first, *rest, second = re.split("[:：]", text)
    words = ("两" if int(first) == 2 else _unpadded(first)) + ("小时" if rest else "分")
    return words + "".join(_sixtieth(minute) + "分" for minute in rest) + _sixtieth(second) + "秒"


def _sixtieth(text: str) -> str:
    return "零" + digits(text[1]) if text[0] == "0" and text != "00" else _unpadded(text)


def _time(match: _Match) -> str:
    if not match["time_2"] and (context := Context.of(match)).is_score:
        return "比".join(map(_unpadded, re.split("[:：]", match["time_1"])))
    if not match["time_2"] and context.is_duration:
        return _duration(match["time_1"])
    first, last = (_HALVES.get((match[name] or "").lower(), "") for name in ("half_1", "half_2"))
    if not match["time_2"]:
        return last + _clock(match["time_1"])
    until = ("到" + last if first else "到") + _clock(match["time_2"])
    return (first or last) + _clock(match["time_1"]) + until


def _ratio(match: _Match) -> str:
    return "比".join(map(number, re.split("[:：]", match.group())))


def _telephone(match: _Match) -> str:
    return ("加" if match.group()[0] == "+" else "") + spelled(_digits_of(match))


def _version(match: _Match) -> str:
    parts = match.group().split(".")
    plain = len(parts) == 4 or any(part[0] == "0" or len(part) > 2 for part in parts)
    return "点".join(map(digits if plain else cardinal, parts))


def _anniversary(match: _Match) -> str:
    text = _digits_of(match)
    return _ANNIVERSARIES.get(text) or digits(text)


def _single(char: str) -> str:
    return cardinal(str(int(unicodedata.numeric(char))))


def _money(match: _Match) -> str:
    unit = match["money_unit"] or CURRENCIES[match["money_symbol"]]
    words = [read_amount(match["money_1"], match["money_scale_1"])]
    if match["money_2"]:
        words.append(read_amount(match["money_2"], match["money_scale_2"]))
    per = "每" + unit_words(match["money_per"][1:]) if match["money_per"] else ""
    return ("负" if match["money_sign"] else "") + "到".join(words) + unit + per


def _vulgar_fraction(match: _Match) -> str:
    over, under = unicodedata.normalize("NFKC", match["fraction"]).split("⁄")
    whole = number(match["fraction_whole"]) + "又" if match["fraction_whole"] else ""
    return f"{whole}{cardinal(under)}分之{cardinal(over)}"


_MONTH, _DAY = "(?:1[0-2]|0?[1-9])", r"(?:3[01]|[12]\d|0?[1-9])"
_CENTURIES = r"(?:19|20)\d\d"
_CLOCK = r"(?:2[0-4]|[01]?\d)[:：][0-5]\d(?!\d)(?:[:：][0-5]\d(?!\d))?"
_MONEY_SCALE = rf"(?:[KkMB](?![A-Za-z0-9])|{SCALE})"
# Words whose number a colon follows: 图1：, 步骤2：
_LABELLED = "(?<!步骤|方案|选项|问题|案例|示例|情况|阶段|任务|部分|条件|规则|附件)"
RULES = (
    Rule(
        "date_range",
        rf"(?<!\d)(?:(?P<date_from>[12]\d{{3}}(?P<range_mark>[-/.]){_MONTH}(?P=range_mark){_DAY}) ?"
        rf"{DASH} ?(?P<date_to>(?:[12]\d{{3}}(?P=range_mark))?{_MONTH}(?P=range_mark){_DAY})|"
        rf"(?P<month_from>{_CENTURIES}\.{_MONTH}) ?{DASH} ?(?P<month_to>{_CENTURIES}\.{_MONTH}))"
        r"(?![-/.]?\d)",
        _date_range,
    ),
    Rule(
        "date",
        rf"(?<!\d)[12]\d{{3}}(?:(?P<date_mark>[-/.]){_MONTH}(?P=date_mark){_DAY}|"
        r"[-/](?:0[1-9]|1[0-2]))(?![-/.]?\d)(?! ?(?:赛季|学年|财年|年))",
        _date,
    ),
    Rule(
        "time",
        rf"{_LABELLED}(?<![图题\d])(?<!\d[:：.])(?P<time_1>{_CLOCK})"
        rf"(?:(?: ?(?P<half_1>[AaPp])\.?[Mm]\.?)? ?{DASH} ?(?P<time_2>{_CLOCK}))?(?![:：.]\d)"
        r"(?: ?(?P<half_2>[AaPp])\.?[Mm](?![A-Za-z])\.?)?",
        _time,
    ),
    Rule(
        "ratio",
        rf"{_LABELLED}(?<![A-Za-z题表])(?<!(?<!地)图)(?<!\d)(?<!\d[:：.]){NUMBER}(?:(?::{NUMBER})++|"
        rf"(?:：{NUMBER})++(?! ?{UNIT}|(?!分){COUNTED_WITH_LIANG.pattern}|[年月日名元号%]))",
        _ratio,
    ),
    Rule(
        "telephone",
        r"(?<![\d.])(?:(?:\+?86[- ]?)?1[3-9]\d(?:[- ]?\d{4}){2}|"
        r"[(（]?0\d{2,3}[)）]?[- ]?(?:\d{7,8}|\d{3,4}[- ]\d{4})(?:-\d{1,5})?|"
        r"[48]00(?:[- ]\d{3}[- ]\d{4}|[- ]\d{4}[- ]\d{3}|\d{7})|"
        r"\d{4}(?:[- ]\d{4}){3}(?:[- ]\d{1,3})?)(?!\d|\.\d)",
        _telephone,
    ),
    Rule(
        "anniversary",
        r"(?<![\d.])\d{1,2}(?:[·•]\d{1,2}|\.\d{1,2}(?= ?(?:晚会|事件|假期|黄金周|劳动节|国庆|"
        r"儿童节|妇女节|建党|建军|运动|大?地震|大促|购物节|狂欢节)))(?!\d)",
        _anniversary,
    ),
    Rule(
        "feast",
        rf"(?<![\d.]){_MONTH}\.{_DAY}(?= ?(?:元旦|情人节|教师节|平安夜|圣诞|护士节|记者节|植树节))",
        _date,
    ),
    Rule("version", r"(?<![\d.])\d++(?:\.\d++){2,}+", _version),
    Rule(
        "item",
        r"(?:\A|(?<=[\n；。！？;!?：:])|(?<=[；。！？;!?：:.] ))\d{1,2}\. ?(?=[^\d\s%])|"
        r"(?:\A|(?<=[\n；。！？;!?：:，, ]))\d{1,2}[)）] ?",
        lambda match: cardinal(_digits_of(match)) + "、",
    ),
    Rule("enclosed", "[①-⒛㈠-㈩]", lambda match: _single(match.group()) + "、"),
    Rule("roman", "[Ⅰ-Ⅻⅰ-ⅻ]", lambda match: _single(match.group())),
    Rule(
        "host",
        r"(?P<at>@?)(?P<label>\d++)(?=\.(?:com|cn|net|org)(?![A-Za-z])|@[A-Za-z0-9])",
        lambda match: "艾特" * bool(match["at"]) + digits(match["label"]),
    ),
    Rule(
        "money",
        r"(?P<money_sign>(?<![A-Za-z0-9])[-−])?"
        rf"(?P<money_symbol>{alternation(CURRENCIES, whole=False)}) ?"
        rf"(?P<money_1>{NUMBER})(?P<money_scale_1>{_MONEY_SCALE})"
        rf"(?: ?{DASH} ?(?P=money_symbol)?(?P<money_2>{NUMBER})(?P<money_scale_2>{_MONEY_SCALE}))?"
        rf"(?: ?(?P<money_unit>{alternation(CURRENCY_WORDS)}))?(?P<money_per>/{UNIT})?",
        _money,
    ),
    Rule(
        "ordinal",
        r"(?:(?<![A-Za-z])N[oO]\.|№) ?\d++|(?<![\d.])\d++(?:st|nd|rd|th)(?![A-Za-z])",
        lambda match: "第" + cardinal(_digits_of(match)),
    ),
    Rule(
        "vulgar_fraction",
        r"(?P<fraction_whole>\d++)?(?P<fraction>[¼-¾⅐-⅞])",
        _vulgar_fraction,
    ),
    Rule(
        "until",
        rf"(?<=[年月日号时点分秒元块度个人米岁页章节楼层]){DASH} ?(?=\d)|"
        rf"(?<=[一二三四五六日末]){DASH}(?=周|星期|礼拜)|"
        rf"(?<=\d){DASH}(?=[A-Z]\d|第|[次翌]日|周[一二三四五六日末]|星期|礼拜)|"
        rf"(?<=\d[kKwWGT]){DASH}(?=\d)",
        lambda match: "到",
    ),
    Rule("times", r"(?<=[米寸尺])[*×xX](?=\d)", lambda match: "乘"),
    Rule(
        "power",
        rf"(?<=[A-Za-z)）])\^(?P<power_sign>[-−]?)(?P<exponent>{NUMBER})",
        lambda match: f"的{'负' * bool(match['power_sign'])}{number(match['exponent'])}次方",
    ),
    Rule("hyphen", r"(?<=[A-Za-z])[-–·](?=\d)", lambda match: ""),
    Rule(
        "per",
        rf"(?:(?<=[元块角分])|(?<=\^\d)|(?<=\^\d\d))/{UNIT}",
        lambda match: "每" + unit_words(match.group()[1:]),
    ),
    Rule(
        "and_above",
        r"(?<=[岁年人元天次分倍级度斤个种名款家])\+(?![+A-Za-z0-9(（])",
        lambda match: "以上",
    ),
    Rule("apart", " ", lambda match: "、"),
    Rule("quantity", QUANTITY, read_quantity),
)
_READERS = {rule.name: rule.read for rule in RULES}
_INITIALS = (
    r"0-9(N№@①-⒛㈠-㈩Ⅰ-Ⅻⅰ-ⅻ¼-¾⅐-⅞/·*×xX\^"
    + r"\-–—~～〜−+±≥≤<>≈≠=√"
    + "".join({key[0] for key in CURRENCIES})
)
_FIGURE = re.compile(
    rf"(?:(?=[{_INITIALS}（])|(?<=\d)(?= \d)(?! {_CLOCK}))(?:"
    + "|".join(f"(?P<{name}>{text})" for name, text, _ in RULES)
    + ")",
    re.ASCII,
)
_ADDRESS = re.compile(r"(?:https?://|(?<![A-Za-z0-9])www\.)[!-~]+")


def read_figures(text: str) -> str:
    """``text`` with its figures in words; digits and signs are ASCII."""
    if "://" in text or "www." in text:
        text = _ADDRESS.sub(lambda match: digits(match.group()), text)
    return _FIGURE.sub(_read_figure, text)


def _read_figure(match: _Match) -> str:
    return _READERS[str(match.lastgroup)](match)
