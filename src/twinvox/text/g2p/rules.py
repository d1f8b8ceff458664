"""Where clauses end and what stands between: text to clauses, clauses to tokens.

Every rule here was found by comparing with the oracle of ``tools/g2p_oracle.py``.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from twinvox.text.g2p.unknown import MC_BEFORE_K

# A mark that ends a clause, and what it leaves in the phonemes.
ENDINGS = {
    ".": ".", "!": "!", "?": "?", ",": ", ", ";": "; ", ":": ": ", "…": "", "¿": "", "¡": "",
    "—": "; ", "–": "; ",
}  # fmt: skip
CLOSERS = "\"'”’)]}»"
SPOKEN_INSIDE = {".": " dot ", ":": " colon ", "!": " exclamation "}
SYMBOLS = {
    "&": "and", "%": "percent", "#": "hash", "$": "dollar", "*": "asterisk", "+": "plus",
    "/": "slash", "=": "equals", "@": "at", "\\": "backslash", "~": "tilde", "§": "section",
    "°": "degrees", "©": "copyright", "®": "registered", "™": "trade mark", "£": "pound",
    "€": "euros", "¥": "yen", "¢": "cents", "×": "times", "÷": "divided by",
    "±": "plus or minus", "²": "two", "³": "three", "½": "a half", "¼": "a quarter",
    "µ": "micro", "№": "numero", "¶": "paragraph", "→": "right arrow", "←": "left arrow",
    "≤": "less or equal to", "≥": "greater or equal to", "≠": "not equal to",
    "≈": "approximately", "∞": "infinity", "√": "square root",
}  # fmt: skip

_MARKS = re.compile(r"[.,;:!?]+|[…¿¡—–]")
_TOKEN = re.compile(
    r"(?:[^\W\d_]\.){1,8}[^\W\d_](?![^\W\d_])"  # U.S, e.g, p.m (the last stop is a mark)
    r"|[^\W\d_]+(?:'[^\W\d_]+)*'?"
    r"|\d"
    r"|[" + re.escape("".join(SYMBOLS)) + "]"
)
_APART = re.compile(r"[\"'()\[\]{}<>`‘’“”«»]|-(?=\s)|(?<=\s)'")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")


class Clause(NamedTuple):
    """A stretch of text spoken in one go, and what its final mark leaves in the phonemes."""

    text: str
    ending: str


class Token(NamedTuple):
    """One word and what stands before it.

    ``glued``: only a hyphen (state-of-the-art). ``apart``: a quote, bracket or dash, which keeps
    the word from merging with the one before it.
    """

    text: str
    glued: bool = False
    apart: bool = False


def clauses(text: str) -> Iterator[Clause]:
    """Split ``text`` at the marks that end a clause; marks inside words become words."""
    start = 0
    pieces: list[str] = []
    for match in _MARKS.finditer(text):
        if match.start() < start:
            continue
        run, stop = match.group(), match.end()
        pieces.append(text[start : match.start()])
        start = stop
        ending = _ending(text, run, stop)
        if ending is not None and run[0] in ":!" and not _speaks(pieces):
            ending = None
        if ending is not None:
            yield Clause("".join(pieces), ending)
            pieces = []
        elif run == "." and text[match.start() - 1 : match.start()] in tuple(CLOSERS):
            pieces.append(SPOKEN_INSIDE["."])
        elif _dot_inside_initials(text, match.start()):
            pieces.append(".")
        else:
            pieces.append(_inside(text, run[0], match.start(), stop, _speaks(pieces)))
    pieces.append(text[start:])
    yield Clause("".join(pieces), "")


def _ending(text: str, run: str, stop: int) -> str | None:
    mark = run[0]
    following = text[stop : stop + 1]
    if mark in "…¿¡":
        return ENDINGS[mark]
    if following == "" or following.isspace():
        if mark == "." and _continues(text, stop):
            return None
        return ENDINGS[mark]
    if mark not in "—–" and following in CLOSERS:
        if following == "'" and text[stop + 1 : stop + 2] == "s":
            return None
        return ENDINGS[mark]
    if mark in ",;!?" and following == "…":
        return ENDINGS[mark]
    if mark in ",;!?." and following in "—–" and text[stop + 1 : stop + 2].isspace():
        return ENDINGS[mark]
    return None


def _continues(text: str, stop: int) -> bool:
    """A full stop before a lower-case word does not end the clause."""
    at = stop
    while at < len(text) and text[at].isspace():
        if text[at] == "\n":
            return False
        at += 1
    return at < len(text) and text[at].islower()


def _dot_inside_initials(text: str, at: int) -> bool:
    if text[at] != "." or not text[at - 1 : at].isalpha() or not text[at + 1 : at + 2].isalpha():
        return False
    alone_before = at < 2 or not text[at - 2].isalpha()
    alone_after = not text[at + 2 : at + 3].isalpha()
    return alone_before and alone_after


def _inside(text: str, mark: str, start: int, stop: int, begun: bool) -> str:
    before, after = text[start - 1 : start], text[stop : stop + 1]
    if mark in ":!" and not begun:
        return SPOKEN_INSIDE[mark]
    if after.isalnum() and (mark != "." or before != ""):
        return SPOKEN_INSIDE.get(mark, " ") if begun else " "
    if (mark == ":" and after == "-") or (mark == "." and begun and before.isspace()):
        return SPOKEN_INSIDE[mark]
    return " "


def _speaks(pieces: list[str]) -> bool:
    return any(char.isalnum() for piece in pieces for char in piece)


def shouts(text: str) -> bool:
    """Whether capitals are no sign of an abbreviation: at least half of the letters are such."""
    capitals = sum(map(str.isupper, text))
    return capitals > 0 and capitals >= sum(map(str.islower, text))


def tokens(text: str) -> list[Token]:
    """The words of a clause: symbols by name, camelCase and hyphen chains taken apart."""
    found: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        word, between = match.group(), text[end : match.start()]
        glued = between == "-" and end > 0
        if found and text[end - 1] == "'":
            between = "'" + between
        apart = _APART.search(between) is not None
        end = match.end()
        if word in SYMBOLS:
            names = SYMBOLS[word].split()
            found.extend(Token(name, False, apart and i == 0) for i, name in enumerate(names))
            continue
        for part in _parts(word):
            found.append(Token(part, glued, apart))
            glued = apart = False
    return found


def _parts(word: str) -> list[str]:
    if word.islower() or word.isupper() or word.istitle():
        return [word]
    parts = _CAMEL.split(word)
    if len(parts) > 1 and parts[0] == "Mc" and parts[1][0] in "CKG":
        parts[0] = MC_BEFORE_K
    return parts
