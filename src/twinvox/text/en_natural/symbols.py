"""Signs of arithmetic and comparison, and marks that are spoken between words."""

import re

from twinvox.text.en_natural.replace import STOP_BEFORE_LETTER, Pass, needs

_OPERATORS = {
    "+": "plus", "=": "equals", "==": "equals", "×": "times", "÷": "divided by", "·": "times",
    "*": "times", "−": "minus", "≠": "is not equal to", "!=": "is not equal to",
    "<": "is less than", ">": "is greater than", "<=": "is less than or equal to",
    ">=": "is greater than or equal to", "≤": "is less than or equal to",
    "≥": "is greater than or equal to", "≈": "is approximately", "±": "plus or minus",
    "->": "to", "→": "to", "=>": "to", "⇒": "to", "&": "and", "|": "or", "^": "to the power of",
}  # fmt: skip
_BEFORE_NUMBER = {
    "<": "less than", ">": "more than", "≤": "at most", "≥": "at least", "<=": "at most",
    ">=": "at least", "~": "about", "≈": "about", "±": "plus or minus", "√": "the square root of",
    "§": "section", "№": "number", "∼": "about", "×": "times",
}  # fmt: skip
_SLASHED = {
    "and/or": "and or", "w/o": "without", "w/": "with", "b/c": "because", "c/o": "care of",
    "n/a": "N A", "he/she": "he or she", "she/he": "she or he", "his/her": "his or her",
    "him/her": "him or her", "s/he": "she or he", "yes/no": "yes or no",
    "true/false": "true or false", "either/or": "either or", "km/h": "kilometers per hour",
}  # fmt: skip
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

_BETWEEN = re.compile(
    r"(?<=[\w)\]%°'\"])\s{1,2}(<=|>=|==|!=|->|=>|[+=×÷·*−≠<>≤≥≈±→⇒&|])(?=\s{1,2}[^\s])"
    r"|(?<=[^\W_])\s?([=×÷≠≤≥→⇒])\s?(?=[\w(−-])"
)
_SUM = re.compile(r"(?<=\d)([+*])(?=\d)")
_MINUS = re.compile(r"(?<=[\w)]) - (?=[\w(]{1,12}\s?=)|(?<=[\w)])−(?=[\w(])")
_BEFORE = re.compile(r"(?<![\w<>=])(<=|>=|[<>≤≥~≈±√§№∼])\s?(?=[-−]?[$£€¥]?\.?\d)|(?<=\s)(×)(?=\d)")
_PLUS_AFTER = re.compile(r"(?<=\d)\+(?![\w+])|(?<=\b[B-F])\+(?![\w+])|(?<=\bA)(\+)(?![\w+])")
_LANGUAGES = re.compile(r"\b([CFGJ])(\+\+|#)(?![\w#+])")
_FOOTNOTE = re.compile(
    r"(?<=[^\W\d_]{3})[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}(?!\w)|(?<=[.,!?\"'])[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}(?!\w)"
)
_POWER = re.compile(r"(?<=[^\W_])(?:\^(-?\d{1,4})|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))(?![\w^])")
_SCIENTIFIC = re.compile(r"(?<![\w.])(\d{1,15}(?:\.\d{1,15})?)[eE]([-+]?\d{1,3})(?![\w.]*\w)")
_SLASH = re.compile(
    rf"(?<![\w/])({'|'.join(sorted(map(re.escape, _SLASHED), key=len, reverse=True))})(?![/\d])"
    r"(?:(?<=w/)(?!\w\b)|(?!\w))",
    re.IGNORECASE,
)
_SLASH_BETWEEN = re.compile(r"(?<![\w/.$~-])([^\W\d_]++)/([^\W\d_]++)(?![\w/])")
_AMPERSAND = re.compile(r"\bAT&T\b|(?<=[^\W_])&(?=[^\W_])")
_DASHES = re.compile(
    r"(?<=\S)\s?(?<!-)-{2,3}(?![->])(?:\s|(?=\S))|(?<=[^\s\d]) -(?= \S)|(?<=\d) -(?= [^\s\d])"
)
_OPTION = re.compile(r"(?<!\S)(--?)(?=[A-Za-z](?![^\s=])|(?<=--)[A-Za-z])")
_GLUED_SENTENCES = re.compile(r"(?<=[a-z]{2})([.!?])(?=(?:[A-Z][a-z]|I\b|A\b))")
_TRADE = re.compile("[®™©℠](?!\\s?\\d)")
_NET = re.compile(r"(?<![\w.])\.(?=(?:NET|com|org|net|io|ai|py|js)\b)")


def say_symbols(text: str) -> str:
    """``text`` with arithmetic in words; numbers are left as they are."""
    text = _LANGUAGES.sub(lambda m: f"{m[1]} {'sharp' if m[2] == '#' else 'plus plus'}", text)
    text = _SCIENTIFIC.sub(r"\1 times 10 to the power of \2", text)
    text = _FOOTNOTE.sub("", text)
    text = _POWER.sub(_power, text)
    text = _MINUS.sub(" minus ", text)
    text = _SUM.sub(lambda m: f" {_OPERATORS[m[1]]} ", text)
    text = _BETWEEN.sub(_between, text)
    text = _BEFORE.sub(lambda m: _BEFORE_NUMBER[m[1] or m[2]] + " ", text)
    text = _PLUS_AFTER.sub(lambda m: "-plus" if m[1] else " plus", text)
    text = _NET.sub("dot ", text)
    if "-" in text:
        text = _DASHES.sub(_dash, _OPTION.sub(_option, text))
    if "&" in text:
        text = _AMPERSAND.sub(lambda m: "A.T and T" if m[0] != "&" else " and ", text)
    text = _GLUED_SENTENCES.sub(r"\1 ", text)
    if "/" in text:
        text = _SLASH.sub(_slashed, text)
        text = _SLASH_BETWEEN.sub(_between_slash, text)
    return text if text.isascii() else _TRADE.sub("", text)


def _dash(match: re.Match[str]) -> str:
    return " —" if match.group() == " -" else " — "


def _option(match: re.Match[str]) -> str:
    return "dash " * len(match[1])


def _slashed(match: re.Match[str]) -> str:
    words = _SLASHED[match[1].lower()]
    if match[1][0].isupper():
        words = words[0].upper() + words[1:]
    after = match.string[match.end() : match.end() + 1]
    return words + " " if after.isalnum() else words


def _between_slash(match: re.Match[str]) -> str:
    """ "client server"; single capitals as initials, lest A be the article."""
    first, second = match.groups()
    initials = len(first) == len(second) == 1 and (first + second).isupper()
    return f"{first}.{second}" if initials else f"{first} {second}"


def _between(match: re.Match[str]) -> str:
    spaced = match[1]
    return f" {_OPERATORS[spaced]}" if spaced else f" {_OPERATORS[match[2]]} "


def _power(match: re.Match[str]) -> str:
    exponent = match[1] or match[2].translate(_SUPERSCRIPTS)
    if exponent in ("2", "3"):
        return " squared" if exponent == "2" else " cubed"
    sign = {"-": "minus ", "+": "plus "}.get(exponent[0], "")
    return f" to the power of {sign}{exponent.lstrip('-+')}"


SYMBOLS = Pass(
    say_symbols,
    needs("/+=×÷·*−≠<>≤≥≈±→⇒&|~√§№∼^#⁰¹²³⁴⁵⁶⁷⁸⁹⁻®™©℠", ["--", " -", "1e", STOP_BEFORE_LETTER]),
    digits=False,
)
