"""What is written but not spoken: Markdown, tags, entities, emoji, invisible characters."""

import html
import re
import unicodedata

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufe0e\ufe0f\u20e3]")
_SPACES = re.compile("[\u1680\u2000-\u2008\u200a\u205f\u3000\u00a0\u202f\u2009](?!\\d)")
_COMPATIBLE = re.compile(
    "[\uff01-\uff5e\uff04\uffe0-\uffe6\ufb00-\ufb06\u2103\u2109\u2126\u212a\u212b\u2460-\u2473\U0001d400-\U0001d7ff]"
)
_GREEK_MICRO = re.compile("\u03bc(?=[A-Za-z])")
_COMPOSED = re.compile("[A-Za-z][\u0300-\u036f]{1,4}")
_OTHER_DIGITS = re.compile(r"[^\D0-9]")
_EMOJI = re.compile(
    "\\s?[\U0001f000-\U0001faff\U0001f1e6-\U0001f1ff\u2600-\u26ff\u2700-\u27bf\u2b00-\u2bff"
    "\u2300-\u23ff\u25a0-\u25ff\u2190\u2191\u2193-\u21d1\u21d3-\u21ff\U000e0020-\U000e007f"
    "\u2022\u2020\u2021\u3030\u303d\u200d]++"
)
_SMILEY = re.compile(r"(?<!\S)[:;=][-^']?[()DPp|/\\](?=[\s.,!?]|\Z)|(?<!\S)<3(?=[\s.,!?]*\Z)")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|br|center|cite|code|dd|del|div|dl|dt|em|font|h[1-6]|hr|i|img|"
    r"ins|kbd|li|mark|ol|p|pre|q|s|samp|small|span|strike|strong|sub|sup|table|tbody|td|th|thead|"
    r"tr|tt|u|ul)(?:\s[^<>]{0,400})?/?>",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)[^\n`]{0,60}$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]{0,3}(?:[-*_=][ \t]?){3,200}$", re.MULTILINE)
_TABLE_RULE = re.compile(
    r"^[ \t]{0,3}\|?[ \t]{0,9}:?-{2,60}:?[ \t]{0,9}(?:\|[-:| \t]{0,400})?$", re.MULTILINE
)
_TABLE_ROW = re.compile(r"^[ \t]{0,3}\|([^\n|]*\|[^\n]+)$", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]++([^\n]*\S)[ \t]*$", re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]{0,3}(?:>[ \t]?){0,8}>[ \t]", re.MULTILINE)
_ITEM = re.compile(
    r"^[ \t]{0,12}(?:[-*+•‣▪◦–][ \t]++(?:\[[ xX]\][ \t]++)?)([^\n]*\S)[ \t]*$", re.MULTILINE
)
_NUMBERED = re.compile(r"^([ \t]{0,12}\d{1,3}[.)][ \t]++[^\n]*[^\W_])[ \t]*$", re.MULTILINE)
_LINK = re.compile(
    r"!?\[([^\[\]\n]{1,400})\](?:\([^()\s]{0,400}(?:\s\"[^\"\n]{0,200}\")?\)|\[[^\[\]\n]{0,80}\])"
)
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,400})\1(?!`)")
_MARKED = tuple(
    re.compile(
        rf"(?<![\w{mark}]){mark}{{{n}}}(?=[^\s{mark}])([^{mark}\n]{{0,600}}[^\s{mark}]){mark}{{{n}}}(?![\w{mark}])"
    )
    for mark, n in (("\\*", 3), ("\\*", 2), ("\\*", 1), ("_", 2), ("_", 1), ("~", 2))
)
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_ENDED = ".!?:;,…"


def strip_markup(text: str) -> str:
    """``text`` without what nobody reads aloud; list items and headings end in a full stop."""
    if "&" in text:
        text = _ENTITY.sub(lambda m: html.unescape(m[0]).replace("\u00a0", " "), text)
    if not text.isascii():
        text = _plain_characters(text)
    if ":" in text or ";" in text or "=" in text or "<3" in text:
        text = _SMILEY.sub("", text)
    if "<" in text:
        text = _TAG.sub("", text)
    if "`" in text or "~~" in text:
        text = _CODE.sub(r"\2", _FENCE.sub("", text))
    if "](" in text or "][" in text:
        text = _LINK.sub(r"\1", text)
    text = _lines(text)
    if "*" in text or "_" in text or "~~" in text:
        for pattern in _MARKED:
            text = pattern.sub(r"\1", text)
    return text


def _plain_characters(text: str) -> str:
    text = _COMPOSED.sub(lambda m: unicodedata.normalize("NFC", m[0]), text)
    text = _COMPATIBLE.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    text = _GREEK_MICRO.sub("\u00b5", text)
    text = _INVISIBLE.sub("", text).translate(_SUBSCRIPTS)
    text = _SPACES.sub(" ", text)
    text = _EMOJI.sub("", text)
    return _OTHER_DIGITS.sub(_ascii_digit, text)


def _ascii_digit(match: re.Match[str]) -> str:
    return str(unicodedata.decimal(match[0], match[0]))


def _lines(text: str) -> str:
    """``text`` without the marks that open a line; items, headings and rows made sentences."""
    if "|" in text:
        text = _TABLE_ROW.sub(_row, _TABLE_RULE.sub("", text))
    if "#" in text:
        text = _HEADING.sub(_ended, text)
    if ">" in text:
        text = _QUOTED.sub("", text)
    if "\n" in text or text[:1] in "-*+•‣▪◦=_":
        text = _ITEM.sub(_ended, _RULE.sub("", text))
        text = _NUMBERED.sub(r"\1.", text)
    return text


def _ended(match: re.Match[str]) -> str:
    line = match[1]
    return (
        line
        if line[-1] in _ENDED or (not line[-1].isalnum() and line[-1] not in "\"')`*_%")
        else line + "."
    )


def _row(match: re.Match[str]) -> str:
    cells = [cell.strip() for cell in match[1].strip().strip("|").split("|")]
    return ", ".join(cell for cell in cells if cell) + "."
