"""Cut long text into pieces that a model can speak in one go."""

import re
from collections.abc import Callable, Iterable

from twinvox.errors import TextError

SHORT = 20
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_CLOSERS = "\"'”’)\\]}»」』）"
_SENTENCE_END = re.compile(
    rf"[.!?…]+[{_CLOSERS}]*(?=\s)|[。！？][{_CLOSERS}]*|(?<=\S)(?=\s*\n\s*\n)"
)
_CLAUSE_END = re.compile(rf"[,;:—–][{_CLOSERS}]*(?=\s)|[，；：、][{_CLOSERS}]*")
_ATOM = re.compile(rf"[{_CJK}][^\w\s]*|[^\s{_CJK}]+")
_LAST_WORD = re.compile(r"\S*\Z")
_ABBREVIATION = re.compile(
    r"[\"'(\[“‘]*(?:[^\W\d_]\.)*(?:[^\W\d_]|mrs?|ms|drs?|prof|rev|gen|maj|capt|lt|col|sgt|hon|"
    r"st|no|vs|fig|vol|mt|ft|messrs|i\.e|e\.g|cf|approx|inc|dept)\.",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(
    r"[\W_]*(?:\d[\d.,:/%-]*|zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|point|hundred|thousand|[mbtr]+illion|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]+)?)[\W_]*",
    re.IGNORECASE,
)


def split_segments(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Pieces of ``text`` in order, each accepted by ``fits``; together all but the spaces.

    One piece a sentence, where one shorter than `SHORT` characters joins its neighbour if both
    fit; a sentence that does not fit is cut after a clause, or else between two words. Numbers
    ("3.14", "two hundred"), "U.S.", "e.g.", times and addresses stay whole. Give the text before
    normalisation, so that sentences are seen as they were written.

    Raises `TextError` when a single word does not fit.
    """
    pieces: list[str] = []
    for sentence in _spoken(_cut(text, _SENTENCE_END, _ends_sentence)):
        pieces += [sentence] if fits(sentence) else _fitted(sentence, fits)
    return _merge_short(pieces, fits)


def _cut(
    text: str, pattern: re.Pattern[str], accept: Callable[[str, re.Match[str]], bool]
) -> list[str]:
    parts, start = [], 0
    for match in pattern.finditer(text):
        if accept(text, match):
            parts.append(text[start : match.end()].strip())
            start = match.end()
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _spoken(parts: list[str]) -> list[str]:
    """Stray marks are no sentence: they stay with the part before them, or else after them."""
    joined: list[str] = []
    for part in parts:
        if joined and not (_has_letters(part) and _has_letters(joined[-1])):
            joined[-1] += " " + part
        else:
            joined.append(part)
    return joined


def _has_letters(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark[:1] != "." or mark.startswith(".."):
        return True
    following = text[match.end() : match.end() + 80].lstrip()
    if following[:1].islower():
        return mark != "." and mark[-1] in _CLOSERS
    word = _LAST_WORD.search(text, max(0, match.start() - 40), match.start() + 1)
    return mark != "." or word is None or _ABBREVIATION.fullmatch(word.group()) is None


def _ends_clause(text: str, match: re.Match[str]) -> bool:
    return not _inside_number(text, match.end())


def _inside_number(text: str, at: int) -> bool:
    before = _LAST_WORD.search(text, max(0, at - 40), at)
    after = text[at : at + 40].split(maxsplit=1)
    return bool(
        before
        and after
        and _NUMBER_WORD.fullmatch(before.group())
        and _NUMBER_WORD.fullmatch(after[0])
    )


def _fitted(sentence: str, fits: Callable[[str], bool]) -> list[str]:
    pieces: list[str] = []
    for clause in _spoken(_cut(sentence, _CLAUSE_END, _ends_clause)):
        if pieces and fits(f"{pieces[-1]} {clause}"):
            pieces[-1] += " " + clause
        elif fits(clause):
            pieces.append(clause)
        else:
            pieces += _forced(clause, fits)
    return pieces


def _forced(clause: str, fits: Callable[[str], bool], soft: bool = True) -> list[str]:
    """Cut between words; ``soft`` keeps numbers and "Mr. Smith" whole as far as they fit."""
    pieces: list[str] = []
    start = end = 0
    for stop in _word_ends(clause, soft):
        if end > start and not fits(clause[start:stop].strip()):
            pieces.append(clause[start:end].strip())
            start = end
        if end == start and not fits(clause[start:stop].strip()):
            word = clause[start:stop].strip()
            if not soft:
                raise TextError(
                    f"{word[:40]!r} ({len(word)} characters) cannot be cut and is too long to "
                    "speak in one go; put spaces or punctuation into it"
                )
            pieces += _forced(word, fits, soft=False)
            start = stop
        end = stop
    rest = clause[start:].strip()
    return [*pieces, rest] if rest else pieces


def _word_ends(text: str, soft: bool) -> Iterable[int]:
    end = len(text.rstrip())
    for match in _ATOM.finditer(text):
        tied = _inside_number(text, match.end()) or _ABBREVIATION.fullmatch(match.group())
        if not soft or not tied or match.end() == end:
            yield match.end()


def _merge_short(pieces: list[str], fits: Callable[[str], bool]) -> list[str]:
    merged: list[str] = []
    for piece in pieces:
        if merged and min(len(merged[-1]), len(piece)) < SHORT:
            both = f"{merged[-1]} {piece}"
            if fits(both):
                merged[-1] = both
                continue
        merged.append(piece)
    return merged
