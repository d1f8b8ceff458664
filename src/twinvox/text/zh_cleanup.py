"""Marks and spaces of Mandarin text as they are spoken: pauses kept, typography dropped."""

import html
import re
from collections.abc import Callable
from typing import NamedTuple

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WIDE = "０１２３４５６７８９％＋－．／＝＄＠＆＜＞＾＊＃"
_TO_ASCII = {ord(wide): ord(wide) - 0xFEE0 for wide in _WIDE}
_TO_ASCII |= {code: code - 0xFEE0 for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
_TO_CHINESE = str.maketrans(",.?!;:", "，。？！；：")
_SYMBOLS = {
    "²": "的平方", "³": "的立方", "×": "乘", "÷": "除以", "√": "根号", "π": "派", "∞": "无穷大",
    "≈": "约等于", "≥": "大于等于", "≤": "小于等于", "≠": "不等于", "±": "正负", "℃": "摄氏度",
    "℉": "华氏度", "°C": "摄氏度", "°F": "华氏度", "°": "度", "‰": "千分号", "%": "百分号",
    "=": "等于", "+": "加", "→": "到",
}  # fmt: skip
_PLAIN = re.compile(rf"[{HAN}，。！？；：、]*")
_WIDE_ASCII = re.compile(f"[{_WIDE}Ａ-Ｚａ-ｚ]")
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


_OPERAND = rf"A-Za-z0-9{HAN}"
_CLEANUPS = (
    _rule("\n", r" ?\n(?: ?\n)+ ?", "。"),
    _rule("\n", r" ?\n ?", "，"),
    _rule("/", "https?://", ""),
    _rule("/", rf"(?<=[元块角分米里克升次度吨瓦币镑]) ?/ ?(?=[{HAN}])", "每"),
    _rule("/", rf"(?<=[{HAN}]) ?/ ?(?=[{HAN}])", "、"),
    _rule("&", rf"(?<=[{HAN}]) ?& ?| ?& ?(?=[{HAN}])", "和"),
    _rule("@", "(?<=[A-Za-z0-9])@(?=[A-Za-z0-9])", "艾特"),
    _rule("@", f"@(?=[{HAN}])", ""),
    _rule("=+", rf"(?<=[{_OPERAND})）]) ?([=+]) ?(?=[{_OPERAND}(（])", _symbol),
    _rule("²³×÷√π∞≈≥≤≠±℃℉°‰%→", "(°[CF]|[²³×÷√π∞≈≥≤≠±℃℉°‰%→])", _symbol),
    _rule("`*#_", "[`*]|(?<![A-Za-z])#|__+", ""),
    _rule(".。", r"\.{3,}|。{3,}", "……"),
    _rule(".", r"(?<=[a-z0-9])\.(?=[a-z]{2})", "点"),
    _rule("—–-", "—+|–+| ?--+ ?| - ", "，"),
    _rule("~～", rf"(?<=[{HAN}])[~～]+", ""),
    _rule("()（）", r"[(（]([^()（）]*+)[)）]", _aside),
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


def to_ascii(text: str) -> str:
    """Full-width digits, letters and signs as ASCII, blanks as single spaces, no pictographs.

    HTML's character references are resolved.
    """
    if _PLAIN.fullmatch(text):
        return text
    if "&" in text:
        text = html.unescape(text)
    if _WIDE_ASCII.search(text):
        text = text.translate(_TO_ASCII)
    return _BLANKS.sub(" ", _INVISIBLE.sub("", text)).strip()


def clean_up(text: str) -> str:
    """Brackets, dashes, slashes, line ends and ASCII marks as pauses; signs in words.

    Spaces stay between Latin words. Decimals, "U.S." and quotes stay as they are.
    """
    held = {*text, "，", "、"}  # pauses may come in
    for marks, pattern, replacement in _CLEANUPS:
        if not marks.isdisjoint(held):
            text = pattern.sub(replacement, text)
    return text
