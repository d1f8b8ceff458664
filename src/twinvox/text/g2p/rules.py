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
SPOKEN_INSIDE = {".": " dot ", ":": " colon ", "!": " ! "}
# Characters that are spoken by name, alone or in runs ("C++", "://") that the lexicon holds.
_OTHER_SYMBOLS = "§°©®™£€¥¢×÷±²³¹½¼¾µ№¶→←≤≥≠≈∞√"
SYMBOLS = "&%#$*+/=@\\~" + _OTHER_SYMBOLS
_SYMBOL = "[" + re.escape(SYMBOLS) + "]"
_SYMBOL_RUN = rf"[<>:.!]?{_SYMBOL}+(?:[<>:.!]{_SYMBOL}+)*"

_MARKS = re.compile(rf"(?P<symbols>{_SYMBOL_RUN})|[.,;:!?]+|[…—–][.,;:!?]*|[¿¡]")
_LETTER = rf"(?:[^\W\d_{_OTHER_SYMBOLS}][\u0300-\u036f]*)"
_TOKEN = re.compile(
    rf"(?P<symbols>http://|{_SYMBOL_RUN}|!)"
    rf"|(?:{_LETTER}\.){{1,8}}{_LETTER}(?!{_LETTER})"  # U.S, e.g, p.m (the last stop is a mark)
    rf"|{_LETTER}+(?:'{_LETTER}+)*'?"
    r"|(?<=\.[^\W\d_]\s)'s\b"  # what L.A.'s leaves behind its initials
    r"|\d"
)
_APART = re.compile(r"[\"'()\[\]{}<>`‘’“”«»…—–]|(?<=\s)-(?=\s)|--|(?<=\s)'")
_QUOTED = re.compile(r"[\"()\[\]{}“”«»]")
_CLOSED = re.compile(r"[\"'()\[\]{}<>`‘’“”«»…]")
_INITIALS = re.compile(rf"(?<![^\W\d_])(?:{_LETTER}\.)+{_LETTER}$")
_BY_MARK = re.compile(rf"(?:[.,:;!?]|(?<!\S)-|{_SYMBOL})\S*$")
_PLAIN_WORD = "(?:[A-Za-z][a-z]*+|[A-Z]++)(?:'[a-z]++)?"
_PLAIN = re.compile(rf" *+(?:{_PLAIN_WORD}(?: ++|-))*+(?:{_PLAIN_WORD})? *+")
LOOK_BACK = 24
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]\w)")


class Clause(NamedTuple):
    """A stretch of text spoken in one go, and what its final mark leaves in the phonemes."""

    text: str
    ending: str


class Token(NamedTuple):
    """One word and what stands around it.

    ``glued``: only a hyphen before it (state-of-the-art). ``apart``: a quote, bracket or dash
    before it, which keeps the word from merging with the one before. ``hyphen``: one follows.
    ``closed``: a quote or bracket stands between it and the end of the clause. ``quoted``: a
    double quote or bracket before it, which breaks off what the words before let expect.
    """

    text: str
    glued: bool = False
    apart: bool = False
    hyphen: bool = False
    closed: bool = False
    quoted: bool = False


def clauses(text: str) -> Iterator[Clause]:
    """Split ``text`` at the marks that end a clause; marks inside words become words."""
    start = 0
    pieces: list[str] = []
    begun = False
    for match in _MARKS.finditer(text):
        at, stop = match.span()
        if at < start or match["symbols"]:
            continue
        pieces.append(text[start:at])
        begun = begun or _speaks(pieces[-1])
        ending = _ending(text, match.group(), stop)
        if ending is not None and (text[at] not in ":!…—–" or begun):
            yield Clause("".join(pieces), ending)
            pieces, begun, start = [], False, stop
        else:
            piece, start = _inside(text, match.group(), at, begun)
            pieces.append(piece)
            begun = begun or _speaks(piece)
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
    if following in CLOSERS:
        if following == "'" and text[stop + 1 : stop + 2] == "s":
            return None
        return ENDINGS[mark]
    if mark in ",;:!?" and following == "…":
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


def _inside(text: str, run: str, at: int, begun: bool) -> tuple[str, int]:
    """What a mark that ends no clause turns into, and where the text goes on."""
    mark, stop = run[0], at + len(run)
    before, after = text[at - 1 : at], text[stop : stop + 1]
    if mark in "…—–":
        return mark, stop
    if mark == "?" and before.isalpha() and after.isalpha():
        return after.lower(), stop + 1  # "asleep?If" is one word
    if mark in ":!" and not begun:
        return SPOKEN_INSIDE[mark].rstrip() + " " * (after != "-"), stop
    if run == ".":
        return _dot_inside(text, at, begun)
    if after.isalnum():
        return SPOKEN_INSIDE.get(mark, " ") if begun and not _after_initials(
            text, at
        ) else " ", stop
    if mark in ":!" and after and after in "-—–":
        return SPOKEN_INSIDE[mark].rstrip(), stop
    return (SPOKEN_INSIDE["."] if mark == "." and begun and before.isspace() else " "), stop


def _dot_inside(text: str, at: int, begun: bool) -> tuple[str, int]:
    stop = at + 1
    before, after = text[at - 1 : at], text[stop : stop + 1]
    spoken = SPOKEN_INSIDE["."]
    if before and before in CLOSERS:
        return spoken, stop
    if _dot_inside_initials(text, at):
        return ".", stop
    possessive = text.startswith("'s", stop) and not text[stop + 2 : stop + 3].isalpha()
    if _after_initials(text, at):
        return "" if after == "-" else " ", stop
    if possessive:
        return spoken, stop + 2
    if _BY_MARK.search(text, max(0, at - LOOK_BACK), at):
        return spoken, stop
    if (after.isalnum() and before) or before.isspace():
        return spoken if begun else " ", stop
    return " ", stop


def _after_initials(text: str, at: int) -> bool:
    return (
        text[at : at + 1] == "." and _INITIALS.search(text, max(0, at - LOOK_BACK), at) is not None
    )


def _speaks(piece: str) -> bool:
    return any(map(str.isalnum, piece))


def shouts(text: str) -> bool:
    """Whether capitals are no sign of an abbreviation: at least half of the letters are such."""
    trimmed = text.strip()
    if trimmed[1:-1].islower() and trimmed[-1:].islower():  # the usual case, told at once
        return False
    capitals = sum(map(str.isupper, text))
    return capitals > 0 and capitals >= sum(map(str.islower, text))


def is_plain(text: str) -> bool:
    """Whether a clause is ASCII words with spaces or one hyphen between, no capital inside one."""
    return _PLAIN.fullmatch(text) is not None


def tokens(text: str) -> list[Token]:
    """The words of a clause: symbols by name, camelCase and hyphen chains taken apart."""
    found: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        word, between = match.group(), text[end : match.start()]
        glued = between == "-" and end > 0
        if not found:
            between = between.lstrip("- \t\n")
        elif text[end - 1] == "'":
            between = "'" + between
        apart = _APART.search(between) is not None
        quoted = _QUOTED.search(between) is not None
        end = match.end()
        if match["symbols"]:
            # A mark right before a symbol stresses it, as in "(& so on)".
            touched = word in "&@" and between != "" and not between[-1].isspace()
            found.append(Token("-" * touched + word, False, apart, quoted=quoted))
            continue
        for part in _parts(word.rstrip("'")):
            found.append(Token(part, glued, apart, quoted=quoted))
            glued = apart = quoted = False
        if text.startswith("-", end):
            found[-1] = found[-1]._replace(hyphen=True)
    if found and _CLOSED.search(text, end):
        found[-1] = found[-1]._replace(closed=True)
    return found


def _parts(word: str) -> list[str]:
    if word.islower() or word.isupper() or word.istitle():
        return [word]
    parts = _CAMEL.split(word)
    if len(parts) > 1 and parts[0] == "Mc" and parts[1][0] in "CKG":
        parts[0] = MC_BEFORE_K
    return parts
