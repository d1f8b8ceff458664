"""Marks and spaces of Mandarin text as they are spoken: pauses kept, typography dropped."""

import html
import re
from collections.abc import Callable
from typing import NamedTuple

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WIDE = "０１２３４５６７８９％＋－．／＝＄＠＆＜＞＾＊＃"
_TO_ASCII = {ord(wide): ord(wide) - 0xFEE0 for wide in _WIDE}
_TO_ASCII |= {code: code - 0xFEE0 for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
_TO_ASCII |= {ord("₀") + digit: ord("0") + digit for digit in range(10)}
# The signs of micro, ohm and ratio.
_TO_ASCII |= {ord("\u00b5"): ord("\u03bc"), ord("\u2126"): ord("\u03a9"), ord("\u2236"): ord(":")}
_TO_CHINESE = str.maketrans(",.?!;:", "，。？！；：")
_SYMBOLS = {
    "²": "的平方", "³": "的立方", "×": "乘", "÷": "除以", "√": "根号", "π": "派", "∞": "无穷大",
    "≈": "约等于", "≥": "大于等于", "≤": "小于等于", "≠": "不等于", "±": "正负", "℃": "摄氏度",
    "℉": "华氏度", "°C": "摄氏度", "°F": "华氏度", "°": "度", "‰": "千分号", "%": "百分号",
    "=": "等于", "+": "加", "→": "到",
}  # fmt: skip
_PLAIN = re.compile(rf"[{HAN}，。！？；：、]*")
_WIDE_ASCII = re.compile(f"[{_WIDE}Ａ-Ｚａ-ｚ₀-₉\u00b5\u2126\u2236]")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_ALL_RAISED = frozenset(_RAISED)
_FROM_RAISED = str.maketrans(_RAISED, "0123456789-")
_POWER = re.compile(
    rf"(?:(?<=[0-9)）])|(?<=(?<![A-Za-z])[A-Za-z]))(?![²³](?![{_RAISED}]))⁻?[{_RAISED[:-1]}]+"
)
_MYRIADS = re.compile(r"(?<=[0-9])[wW](?=\+(?![A-Za-z0-9]))")
_BULLET = re.compile(rf"^[^\S\n]*(?:[-–*+•·●■▪◦][^\S\n]+|>+ ?(?=[{HAN}]))", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[^\S\n]*\|(.*)\|[^\S\n]*$\n?", re.MULTILINE)
_CELL_BORDER = re.compile(r"\s*\|\s*")
_LINK = re.compile(r"!?\[([^\[\]\n]*+)\]\([^()\s]*+\)")
_INVISIBLE = re.compile(
    "[\u200b-\u200f\u2060\ufe0e\ufe0f\ufeff\U0001f000-\U0001faff\u2600-\u27bf]+"
)
_BLANKS = re.compile(r"[^\S\n]+")


class Cleanup(NamedTuple):
    """What to replace, and the marks without which it cannot be there."""

    marks: frozenset[str]
    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str]


def _rule(marks: str, pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> Cleanup:
    return Cleanup(frozenset(marks), re.compile(pattern), replacement)


def _aside(match: re.Match[str]) -> str:
    """What stands in brackets: a gloss such as "(Apple)" goes on, more is set off by pauses."""
    return match[1] if match[1].isascii() else f"，{match[1]}，"


def _chinese(match: re.Match[str]) -> str:
    return match.group().translate(_TO_CHINESE)


def _symbol(match: re.Match[str]) -> str:
    return _SYMBOLS[match[1]]


_NUMERAL = "[零〇一二两三四五六七八九十几半]"
_CURRENCY = "人民币|(?:美|欧|日|韩|港|澳|加)元|英镑|美金|港币|卢布|卢比|新台币|比特币"
_ENDS_IN_CURRENCY = re.compile(rf"(?:{_CURRENCY})\Z")
_CURRENCY_AFTER = re.compile(_CURRENCY)
_RATE = re.compile(
    rf"(?:{_CURRENCY}|\A[元块]|小时|分钟|分钟|[百千]分之[零一二三四五六七八九十百点]+|"
    "[公千毫厘微分方海英][米里克升吨瓦斤尺寸顷亩]|"
    rf"{_NUMERAL}[十百千万亿多]*[元块米里克升吨瓦斤毫角分度次人个件台张只条天晚页字转瓶盒包袋杯片粒颗滴支份勺碗篇集间套户辆箱桶罐])\Z"
)
_NO_RATE_BEFORE = re.compile("[第十]分\\Z|第.{1,4}\\Z")
_HOUR_AFTER = re.compile("时(?![段间候刻期速])")
_NO_RATE_AFTER = re.compile("[零〇一二两三四五六七八九十几半多另第]")


def _slashes(match: re.Match[str]) -> str:
    """每 behind a measure or its unit, 兑 between currencies, a pause between other words."""
    words = [word.strip() for word in match.group().split("/")]
    after = match.string[match.end() : match.end() + 4]
    if _ENDS_IN_CURRENCY.search(words[0]) and _CURRENCY_AFTER.match(words[1] or after):
        return "兑".join(words)
    if _NO_RATE_BEFORE.search(words[0]) or _NO_RATE_AFTER.match(words[1] or after):
        return "、".join(words)
    joined = ("每" if _RATE.search(words[0]) else "、").join(words)
    return joined + "小" if _HOUR_AFTER.match(after) and joined.endswith("每") else joined


_OPERAND = rf"A-Za-z0-9{HAN}"
_CLEANUPS = (
    _rule("\n", r"([。！？；：…!?][”’」』）]?) ?\n(?: ?\n)*+ ?", r"\1"),
    _rule("\n", r" ?\n(?: ?\n)+ ?", "。"),
    _rule("\n", r" ?\n ?", "，"),
    _rule("/", "https?://", ""),
    _rule("/", rf"[{HAN}]{{1,8}}(?:/[{HAN}]{{1,2}}(?=/)){{0,4}}+ ?/ ?(?=[{HAN}])", _slashes),
    _rule("&", rf"(?<=[{HAN}]) ?& ?| ?& ?(?=[{HAN}])", "和"),
    _rule("@", "(?<=[A-Za-z0-9零一二三四五六七八九])@(?=[A-Za-z0-9])", "艾特"),
    _rule("@", f"@(?=[{HAN}])", ""),
    _rule("=+", rf"(?<=[{_OPERAND})）²³°%]) ?([=+]) ?(?=[{_OPERAND}(（π√])", _symbol),
    _rule("²³×÷√π∞≈≥≤≠±℃℉°‰%→", "(°[CF]|[²³×÷√π∞≈≥≤≠±℃℉°‰%→])", _symbol),
    _rule("`*#_", "[`*]|(?<![A-Za-z])#|__+", ""),
    _rule(".。", r"\.{3,}|。{3,}", "……"),
    _rule(".", r"(?<=[a-z0-9零一二三四五六七八九])\.(?=[a-z]{2})|(?<=www)\.", "点"),
    _rule("—–-", "—+|–+| ?--+ ?| - ", "，"),
    _rule("~～", rf"(?<=[{HAN}])[~～]+|[~～]{{2,}}", ""),
    _rule("()（）", r"(?<=第)[(（]([^()（）]{1,4})[)）]", r"\1"),
    _rule("()（）〔", r"[(（〔]([^()（）〔〕]*+)[)）〕]", _aside),
    _rule("】]", r"[】\]]", "，"),
    _rule("()（）【[", r"[()（）【\[]", ""),
    _rule(
        ",.?!;:",
        rf"(?<=[{HAN}”’」』》])(?:[,?!;:]+|\.(?![.\d]))|(?<=[A-Za-z0-9])[,?!;:](?= ?[{HAN}])|"
        rf"(?<=[A-Za-z]{{2}})\.(?=[{HAN}]|\Z)",
        _chinese,
    ),
    _rule(" ", "(?<![!-~]) | (?![!-~])", ""),
    _rule(
        "，、", "[，、]+(?=[，。！？；：、…”’》」])|(?<=[。！？；：…“‘《「])[，、]+|\\A[，、]+", ""
    ),
    _rule("，、,", r"(?<![，、,])[，、,]+\Z", "。"),
)


def _table_row(match: re.Match[str]) -> str:
    """The cells with pauses between them; nothing for the rule below the head."""
    cells = _CELL_BORDER.sub("，", match[1].strip())
    return cells + "\n" if cells.strip("-:， ") else ""


def to_ascii(text: str) -> str:
    """Full-width digits, letters and signs as ASCII, blanks as single spaces, no pictographs.

    HTML's character references are resolved, lowered digits are put in line, raised ones but lone
    ² and ³ behind ^; of links the text is kept, of lists, quotations and tables what they hold.
    """
    if _PLAIN.fullmatch(text):
        return text
    if "&" in text:
        text = html.unescape(text)
    if _WIDE_ASCII.search(text):
        text = text.translate(_TO_ASCII)
    if "|" in text:
        text = _TABLE_ROW.sub(_table_row, text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "+" in text:
        text = _MYRIADS.sub("万", text)
    if not _ALL_RAISED.isdisjoint(text):
        text = _POWER.sub(lambda match: "^" + match.group().translate(_FROM_RAISED), text)
    return _BLANKS.sub(" ", _BULLET.sub("", _INVISIBLE.sub("", text))).strip()


def clean_up(text: str) -> str:
    """Brackets, dashes, slashes, line ends and ASCII marks as pauses; signs in words.

    Spaces stay between Latin words. Decimals, "U.S." and quotes stay as they are.
    """
    held = {*text, "，", "、"}  # pauses may come in
    for marks, pattern, replacement in _CLEANUPS:
        if not marks.isdisjoint(held):
            text = pattern.sub(replacement, text)
    return text
