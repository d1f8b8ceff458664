"""Web and mail addresses, handles, file names, telephone numbers."""

import re

from twinvox.text.en_natural.replace import (
    STOP_BEFORE_DIGIT,
    STOP_BEFORE_LETTER,
    Pass,
    needs,
    spoken,
    word_set,
)
from twinvox.text.numbers import pairs, spelt

_CERTAIN = "com|org|net|edu|gov|info|biz|io|ai|dev|app|co\\.uk|uk|xyz|tv|ly|gg|eu|de"
_SPELT = word_set(
    "io ai tv uk us ca au de fr eu ch nl jp cn fm gg sh js ts html css md pdf csv json xml http "
    "https ftp url cpp tsv mp yml exe dll php sql"
)
_NAMES = {
    ".": "dot", "/": "slash", "-": "dash", "_": "underscore", ":": "colon", "@": "at",
    "?": "question mark", "=": "equals", "&": "and", "#": "hash", "%": "percent", "+": "plus",
    "~": "tilde", "*": "star", "\\": "backslash", "$": "dollar",
}  # fmt: skip
_PART = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")

_MAIL = re.compile(r"(?<![\w.+%-])(?:mailto:)?([\w.+%-]{1,64}+@[\w.-]{1,250})(?<![.-])")
_URL = re.compile(r"(?<![^\W_])(?:https?|ftp)://([^\s<>\"]+)", re.IGNORECASE)
_WWW = re.compile(r"(?<![\w@./-])(www\.[^\s<>\"]+)", re.IGNORECASE)
_DOMAIN = re.compile(
    rf"(?<![\w@./\\-])((?:[a-z0-9-]{{1,63}}+\.){{1,5}}(?:{_CERTAIN})"
    r"(?:(?::\d{1,5})?/[^\s<>\"]*)?)(?![\w-]|\.\w)",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?<![\w@.-])((?:[\w-]{1,64}+\.){1,3}(?:py|js|ts|tsx|jsx|html?|css|md|txt|pdf|docx?|xlsx?|"
    r"pptx?|csv|tsv|json|xml|ya?ml|toml|cfg|ini|c|h|cpp|hpp|rs|go|java|rb|php|sh|bat|exe|dll|zip|"
    r"tar|gz|png|jpe?g|gif|svg|mp[34]|wav|flac|log|sql))(?![\w-]|\.\w)"
)
_HANDLE = re.compile(r"(?<![\w@.])@([A-Za-z_]\w*)")
_HASHTAG = re.compile(r"(?<![\w#&])#(\d{0,9}[^\W\d_]\w*)")
_NUMBER_SIGN = re.compile(r"(?<![\w#&])#\s?(?=\d++[A-Za-z]?(?![^\W_]))")
_TRAILING = ".,;:!?'*_~…"

_IP = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(/\d{1,2}|:\d{1,5})?(?![\w.]*\d)")
_PHONES = tuple(
    map(
        re.compile,
        (
            r"(?<![\w+])\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}(?![\w-])",
            r"(?<![\w/-])(?:1[-. ])?(?:\(\d{3}\)\s?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])",
            r"(?<![\w.,/$€£-])[2-9]\d{2}-(?!\d\d00)\d{4}(?![\w-])",
            r"(?<![\w.,-])0\d{2,4} \d{3,4} \d{3,4}(?!\w)",
            r"(?<![\w.,/-])\d{3}-\d{2}-\d{4}(?![\w-])",
            r"(?<![\w.,/-])\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?![\w-])",
            r"(?<![\w.,/-])(?:\d-){2,12}\d(?![\w-]|\.\d|/\d)",
            r"(?<=[Cc]all )[2-9]11\b|(?<=[Dd]ial )[2-9]11\b|(?<=[Cc]alled )[2-9]11\b",
        ),
    )
)
_GROUP = re.compile(r"\d+")


def say_addresses(text: str) -> str:
    """``text`` with addresses, handles, hashtags and file names as they are dictated."""
    if "@" in text:
        text = _MAIL.sub(_address, text)
        text = _HANDLE.sub(r"at \1", text)
    if "." in text:
        text = _URL.sub(_address, text)
        text = _WWW.sub(_address, text)
        text = _DOMAIN.sub(_address, text)
        text = _FILE.sub(_address, text)
    elif "://" in text:
        text = _URL.sub(_address, text)
    if "#" in text:
        text = _NUMBER_SIGN.sub("number ", text)
        text = _HASHTAG.sub(r"hashtag \1", text)
    return text


def say_phone_numbers(text: str) -> str:
    """``text`` with telephone, card and IP numbers digit by digit, a pause between groups."""
    if "." in text:
        text = _IP.sub(_ip, text)
    for pattern in _PHONES:
        text = pattern.sub(_phone, text)
    return text


def _address(match: re.Match[str]) -> str:
    address = match.group(1)
    kept = address.rstrip(_TRAILING)
    while kept.endswith((")", "]")) and kept.count(kept[-1]) > kept.count(
        "(["[")]".index(kept[-1])]
    ):
        kept = kept[:-1].rstrip(_TRAILING)
    rest = address[len(kept) :]
    words = []
    for part in _PART.findall(kept.rstrip("/")):
        if part.isdigit() and part.isascii():
            words.append(pairs(part))
        elif part.lower() in _SPELT:
            words.append(part.upper())
        else:
            words.append(_NAMES.get(part, part))
    return spoken(match, " ".join(words)) + rest


def _ip(match: re.Match[str]) -> str:
    words = " dot ".join(pairs(part) for part in match[1].split("."))
    rest = match[2]
    if rest:
        words += f" {_NAMES[rest[0]]} {pairs(rest[1:])}"
    return spoken(match, words)


def _phone(match: re.Match[str]) -> str:
    text = match.group()
    groups: list[str] = _GROUP.findall(text)
    single = all(len(group) == 1 for group in groups)
    words = (" " if single else ", ").join(
        "eight hundred" if group == "800" else spelt(group, "oh") for group in groups
    )
    return spoken(match, ("plus " if text.startswith("+") else "") + words)


ADDRESSES = Pass(
    say_addresses, needs("@#", [STOP_BEFORE_LETTER, "http", "https", "ftp"]), digits=False
)
PHONE_NUMBERS = Pass(
    say_phone_numbers, needs("-(+", [STOP_BEFORE_DIGIT, "call", "called", "dial", "1 000"])
)
