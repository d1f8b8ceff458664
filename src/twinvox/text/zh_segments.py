"""Cut Mandarin text into segments by the speech tokens that they are estimated to take."""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from twinvox.errors import TextError

MAX_BUDGET = 110
ROOM_MARGIN = 45
OVERSHOOT = 30
SHORT = 30

_TOKENS_PER_CJK, _TOKENS_PER_ASCII, _TOKENS_PER_OTHER = 7.5, 1.5, 2.5
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_CJK = re.compile(f"[\u3040-\u30ff{_HAN}\uac00-\ud7af]")
_OPENERS, _CLOSERS = "“‘「『（(【《", r"”’」』）)】》\]"
_SENTENCE_END = re.compile(
    rf"[。！？!?]+[。！？!?…{_CLOSERS}]*|(?<!\.)\.(?!\.)[{_CLOSERS}]*(?=[\s{_HAN}]|\Z)|\n+"
)
_CLAUSE_END = re.compile(rf"[，、；：;,:…—][{_CLOSERS}]*\s*\Z")
_PARTICLES = "的了着过吗呢吧啊呀啦"
_LAST_WORD = re.compile(r"[A-Za-z.]*\Z")
_ABBREVIATION = re.compile(
    r"[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|Mrs?|Ms|Drs?|Prof|St|No|vs|etc|Inc|Ltd|Co|Jr|Sr"
)
_NUMERALS = "零〇一二三四五六七八九十百千万亿萬億两幺点"
# What is never cut: special tokens in a row, as of one syllable, a word, a number, a Chinese
# numeral or one character, with the marks and spaces that belong to it.
_ATOM = re.compile(
    rf"[{_OPENERS}]*(?:<\|[^|<>\s]{{1,40}}\|>|(?:\[[^\[\]\s]{{1,20}}\]|</?[a-z]{{1,20}}>){{1,4}}|"
    r"[A-Za-z0-9]{1,40}(?:[.,:/@'’&+_-]{1,3}[A-Za-z0-9]{1,40}){0,8}|"
    rf"[{_NUMERALS}]{{2,8}}|.)[^\w\s<\[{_OPENERS}]*\s*",
    re.DOTALL,
)
# A longer numeral, a share and what is counted: cut only where nothing else would do.
_FIGURE = re.compile(
    rf"(?:[{_NUMERALS}]{{1,8}}分之[{_NUMERALS}]|[{_NUMERALS}]{{2}})[{_NUMERALS}]*\w?"
)


class _Atom(NamedTuple):
    end: int
    cost: float
    rank: int  # of a cut after it, below 0 within a figure


Span = tuple[int, int]


def estimate_speech_tokens(text: str) -> float:
    """The speech tokens (40 ms each) that ``text`` is expected to take, on the high side."""
    cjk = len(_CJK.findall(text))
    ascii_ = len(text.encode("ascii", "ignore"))
    other = len(text) - cjk - ascii_
    return _TOKENS_PER_CJK * cjk + _TOKENS_PER_ASCII * ascii_ + _TOKENS_PER_OTHER * other


def segment_budget(room: int) -> int:
    """The estimated tokens of a segment where the model has room for ``room`` new ones."""
    return max(1, min(MAX_BUDGET, room - ROOM_MARGIN))


def split_speech_segments(text: str, budget: int, fits: Callable[[str], bool]) -> list[str]:
    """Pieces of ``text`` in order, each accepted by ``fits``; together all but the outer spaces.

    Text whose estimate is within ``budget`` tokens stays whole; longer text is cut after every
    sentence. A sentence of more than budget + `OVERSHOOT` is cut into parts of like size: at clause
    ends, or else at spaces, after particles, between two characters. A piece below `SHORT` joins
    its neighbour if both are within the budget. Decimals, "U.S.", ellipses, numerals and closing
    quotes stay with what they belong to, and no piece is punctuation alone.

    Raises TextError when a single word does not fit.
    """
    paired = _pair_quotes(text)
    whole = _trimmed(text, 0, len(text))
    if not _is_spoken(text[slice(*whole)]):
        return []
    if round(estimate_speech_tokens(text[slice(*whole)])) <= budget and fits(text[slice(*whole)]):
        return [text[slice(*whole)]]
    pieces = [
        piece
        for start, end in _sentences(paired)
        for piece in _divided(paired, start, end, budget, budget + OVERSHOOT)
    ]
    spans = _merge_short(text, _with_marks(text, pieces), budget)
    fitting = itertools.chain.from_iterable(_fitted(text, paired, span, fits) for span in spans)
    return [text[start:end] for start, end in fitting]


def _pair_quotes(text: str) -> str:
    """``text`` with its straight quotes as pairs of curly ones, at the same places."""
    marks = itertools.cycle("“”")
    return re.sub('"', lambda match: next(marks), text)


def _is_spoken(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _sentences(text: str) -> list[Span]:
    spans, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        if not _is_abbreviation(text, match):
            spans.append(_trimmed(text, start, match.end()))
            start = match.end()
    spans.append(_trimmed(text, start, len(text)))
    return _with_marks(text, spans)


def _is_abbreviation(text: str, match: re.Match[str]) -> bool:
    if match.group() != ".":
        return False
    word = _LAST_WORD.search(text, max(0, match.start() - 12), match.start())
    goes_on = not text[match.end() :].isspace() and match.end() < len(text)
    return goes_on and word is not None and _ABBREVIATION.fullmatch(word.group()) is not None


def _with_marks(text: str, spans: Iterable[Span]) -> list[Span]:
    """Spans of marks alone joined to the span before them, or else after them."""
    joined: list[Span] = []
    for start, end in spans:
        if start >= end:
            continue
        alone = not _is_spoken(text[start:end]) or (
            len(joined) == 1 and not _is_spoken(text[slice(*joined[0])])
        )
        if joined and alone:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _merge_short(text: str, spans: list[Span], budget: float) -> list[Span]:
    merged: list[Span] = []
    costs: list[float] = []
    for start, end in spans:
        cost = estimate_speech_tokens(text[start:end])
        if merged and min(costs[-1], cost) < SHORT and costs[-1] + cost <= budget:
            merged[-1] = merged[-1][0], end
            costs[-1] += cost
        else:
            merged.append((start, end))
            costs.append(cost)
    return merged


def _atoms(text: str, start: int, end: int) -> Iterator[_Atom]:
    figures = _FIGURE.finditer(text, start, end)
    inside = {at for match in figures for at in range(match.start() + 1, match.end())}
    for match in _ATOM.finditer(text, start, end):
        atom = match.group()
        rank = -1 if match.end() in inside else _rank(atom)
        yield _Atom(match.end(), estimate_speech_tokens(atom), rank)


def _rank(atom: str) -> int:
    if _CLAUSE_END.search(atom):
        return 3
    return 2 if atom[-1].isspace() else int(atom[-1] in _PARTICLES)


def _divided(text: str, start: int, end: int, budget: float, limit: float) -> Iterator[Span]:
    """Cuts of a span into parts of about ``budget``, none above ``limit`` but a single atom."""
    atoms = list(_atoms(text, start, end))
    rest = sum(atom.cost for atom in atoms)
    first = 0
    while rest > limit and first + 1 < len(atoms):
        last = _best_cut(atoms, first, rest / math.ceil(rest / budget), limit)
        yield _trimmed(text, start, atoms[last].end)
        rest -= sum(atom.cost for atom in atoms[first : last + 1])
        start, first = atoms[last].end, last + 1
    yield _trimmed(text, start, end)


def _best_cut(atoms: list[_Atom], first: int, target: float, limit: float) -> int:
    """The atom to cut after: of the best rank, then nearest to ``target``."""
    best, best_key = first, (-2, 0.0)
    cost = 0.0
    for at in range(first, len(atoms) - 1):
        cost += atoms[at].cost
        if cost > limit:
            break
        rank = atoms[at].rank if 2 * cost >= target else min(atoms[at].rank, 0)
        key = (rank, -abs(cost - target))
        if key > best_key:
            best, best_key = at, key
    return best


def _fitted(text: str, paired: str, span: Span, fits: Callable[[str], bool]) -> Iterator[Span]:
    """The span, in as many halves as it takes until each fits."""
    start, end = span
    if fits(text[start:end]):
        yield span
        return
    half = sum(atom.cost for atom in _atoms(paired, start, end)) / 2
    parts = _with_marks(text, list(_divided(paired, start, end, half, 1.5 * half)))
    if len(parts) < 2:
        raise TextError(
            f"{text[start:end][:40]!r} ({end - start} characters) cannot be cut and does not fit "
            "the model beside the prompt; shorten it or the prompt's transcript"
        )
    for part in parts:
        yield from _fitted(text, paired, part, fits)
