"""Cut long text into pieces that a model can speak in one go."""

import re
from collections.abc import Callable, Iterator

from twinvox.errors import TextError
from twinvox.text.en_natural.replace import STARTERS

SHORT = 20
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_CLOSERS = "\"'”’)\\]}»」』）"
_SENTENCE_END = re.compile(
    rf"(?<![.!?…])[.!?…]++[{_CLOSERS}]*+(?=\s)|[。！？][{_CLOSERS}]*|(?<=\S)(?=\s*\n\s*\n)"
)
_CLAUSE_END = re.compile(rf"[,;:—–][{_CLOSERS}]*(?=\s)|[，；：、][{_CLOSERS}]*")
_ATOM = re.compile(rf"[{_CJK}][^\w\s]*|[^\s{_CJK}]+")
_PART = re.compile(r"[^\W_]+(?:[\W_]+|\Z)|[\W_]+")
_CHARACTER = re.compile(r".[\u0300-\u036f\u200d\ufe0f]*", re.DOTALL)
_LAST_WORD = re.compile(r"\S*\Z")
_OPENERS = "[\"'(\\[“‘]*"
# Before a name: the stop after these ends no sentence.
_TITLE = re.compile(
    rf"{_OPENERS}(?:[^\W\d_]\.)*(?:mrs?|ms|drs?|profs?|revs?|gens?|maj|capt|lt|cols?|sgt|cpl|pvt|"
    r"cmdr|adm|hon|sens?|reps?|gov|pres|supt|det|insp|fr|st|ste|mt|ft|messrs|atty|amb)\.",
    re.IGNORECASE,
)
# Inside a sentence, but where the next word is one that begins a sentence.
_ABBREVIATION = re.compile(
    rf"{_OPENERS}(?:[^\W\d_]\.)*(?:[^\W\d_]|jan|feb|mar|apr|aug|sept?|oct|nov|dec|mon|tues?|wed|"
    r"thurs?|fri|vs|approx|cf|viz|etc|al|esp|incl|excl|avg|misc|inc|ltd|corp|co|bros|assn|dept|"
    r"univ|govt|intl|natl|jr|sr|esq|ave|blvd|rd|ln|hwy|pkwy|sq|tel|ext|attn|est|ph\.d|lbs?|oz|ft|"
    r"hrs?|yds?|mi)\.",
    re.IGNORECASE,
)
# Before a number only.
_NUMBERED = re.compile(
    rf"{_OPENERS}(?:nos?|figs?|vols?|ch|chap|secs?|eqs?|pp?|pg|pt|art|ver|rm|apt|ca?|ed|op|rte)\.",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"[$€£]?\d|[IVXL]+\b")
_NEXT_WORD = re.compile(r"\s*[\"'(\[“‘]*([^\W\d_]+(?:'[^\W\d_]+)?)(\.?)")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_FIGURE = re.compile(r"[\W_]*\d[\w.,:/%'’′-]*")
_MONTH_WORD = re.compile(_MONTH, re.IGNORECASE)
# What a number does not part from: "5 km", "7 p.m.", "28 September", "4 + 4", "XIV".
_AFTER_FIGURE = re.compile(
    rf"(?:{_MONTH}|[ap]\.?m\.?|o'clock|%|percent|[mk]?bn?|tn|[kcmµn]?m[²³]?|[kmµ]?g|[mcd]?l|in|ft|"
    r"yds?|mi|lbs?|oz|mph|km/h|kph|hrs?|min|secs?|ms|[kmg]?hz|[kmgt]i?b(?:ps)?|[km]?wh?|[mk]?v|"
    r"°\s?[cf]?|usd|eur|gbp|jpy|chf|cad|aud|dollars?|euros?|pounds?|cents?|degrees|[+=×÷<>−–*/-])"
    r"[.,;:!?)]*",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"[+=×÷<>−–*/-]")
_ROMAN = re.compile(r"[IVXL]+[.,;:!?)]*")
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
    ("3.14", "two hundred"), dates, prices, "5 km", "U.S.", "e.g.", "Dr. Brown", times, telephone
    numbers and addresses stay whole as far as they fit. Give the text before normalisation, so
    that sentences are seen as they were written.

    Raises `TextError` when a single character does not fit.
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
    return mark != "." or word is None or not _abbreviates(word.group(), following)


def _abbreviates(word: str, following: str) -> bool:
    """Whether ``word`` with its full stop goes on with what follows."""
    if _TITLE.fullmatch(word):
        return True
    if _NUMBERED.fullmatch(word) and len(word) > 2:
        return _NUMERAL.match(following) is not None
    if not _ABBREVIATION.fullmatch(word):
        return False
    ahead = _NEXT_WORD.match(following)
    if ahead is None or (ahead[2] and len(ahead[1]) == 1):
        return True
    return ahead[1].lower() not in STARTERS


def _ends_clause(text: str, match: re.Match[str]) -> bool:
    return not _tied(text, match.end())


def _tied(text: str, at: int) -> bool:
    """Whether the words before and after ``at`` are read as one: a number, a date, a price."""
    before = _LAST_WORD.search(text, max(0, at - 40), at)
    after = text[at : at + 40].split(maxsplit=1)
    if not before or not after:
        return False
    word, following = before.group(), after[0]
    if _NUMBER_WORD.fullmatch(word) and _NUMBER_WORD.fullmatch(following):
        return True
    if _FIGURE.fullmatch(word):
        return _AFTER_FIGURE.fullmatch(following) is not None
    if _FIGURE.match(following):
        return bool(_MONTH_WORD.fullmatch(word) or _OPERATOR.fullmatch(word))
    return word[:1].isupper() and word[-1:].isalpha() and bool(_ROMAN.fullmatch(following))


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


def _forced(clause: str, fits: Callable[[str], bool], level: int = 0) -> list[str]:
    """Cut at one of `_CUTS`, and what still does not fit at the next."""
    pieces: list[str] = []
    start = end = 0
    for stop in _CUTS[level](clause):
        if end > start and not fits(clause[start:stop].strip()):
            pieces.append(clause[start:end].strip())
            start = end
        if end == start and not fits(clause[start:stop].strip()):
            atom = clause[start:stop].strip()
            if level + 1 == len(_CUTS):
                raise TextError(
                    f"{atom[:40]!r} is too long to speak in one go with this voice; use a shorter "
                    "prompt or a higher speed"
                )
            pieces += _forced(atom, fits, level + 1)
            start = stop
        end = stop
    rest = clause[start:].strip()
    return [*pieces, rest] if rest else pieces


def _untied_ends(text: str) -> Iterator[int]:
    end = len(text.rstrip())
    for match in _ATOM.finditer(text):
        tied = _tied(text, match.end()) or _holds_next(match.group())
        if not tied or match.end() == end:
            yield match.end()


def _ends_of(pattern: re.Pattern[str]) -> Callable[[str], Iterator[int]]:
    return lambda text: (match.end() for match in pattern.finditer(text))


_CUTS = (
    _untied_ends,  # between words, but for numbers and "Mr. Smith"
    _ends_of(_ATOM),
    _ends_of(_PART),  # inside a word, as in an address
    _ends_of(_CHARACTER),
)


def _holds_next(word: str) -> bool:
    return any(kind.fullmatch(word) for kind in (_TITLE, _ABBREVIATION, _NUMBERED))


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
