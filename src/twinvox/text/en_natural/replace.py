"""What the passes share: when one is needed, words in the place of figures, full stops."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

STOP_BEFORE_LETTER = "a.a"
STOP_BEFORE_DIGIT = "1.1"
LETTER_BESIDE_DIGIT = "a1"


class Pass(NamedTuple):
    """One class of things to put in words, and what must be in a text for it to be there.

    ``needs``: any of these marks, words in small letters or sequences (`STOP_BEFORE_LETTER`…);
    empty: always. ``digits``: also a digit.
    """

    say: Callable[[str], str]
    needs: frozenset[str] = frozenset()
    digits: bool = True


def needs(characters: str = "", words: Iterable[str] = ()) -> frozenset[str]:
    return frozenset(characters) | frozenset(words)


def word_set(words: str) -> frozenset[str]:
    """The words of a list with spaces between."""
    return frozenset(words.split())


# Words that open a sentence far more often than they follow an abbreviation.
STARTERS = word_set(
    "a about after all also although an and another any are as at be because before both but by "
    "can come could did do does each even every few finally first for from go had has have he "
    "her here his how however i if in is it it's its just last later let like many maybe "
    "meanwhile more most my never next no nobody nor not nothing now of on once one only or "
    "other our out over perhaps please she since so some soon still such suddenly thank that "
    "that's the their then there there's therefore these they this those though through thus "
    "to today too under until up very was we well were what when where which while who why "
    "will with would yes yesterday yet you your"
)
_SENTENCE_BEFORE = re.compile(r"[.!?…][\"')\]]{0,3}\s+\Z")
_AHEAD = re.compile(r"([\"')\]]{0,3})(\s*)(\S[^\W\d_]{0,15}(?:'[a-z])?)?")


def spoken(match: re.Match[str], words: str) -> str:
    """``words`` for the whole match: apart from letters beside it, a capital after a full stop.

    A small letter after a full stop would hide the end of the sentence.
    """
    text, start, end = match.string, match.start(), match.end()
    if start > 1:
        before = text[start - 1]
        if before == " " or before == "\n":
            if text[start - 2] in "\n .!?…\"')]" and _SENTENCE_BEFORE.search(
                text, max(0, start - 6), start
            ):
                words = words[:1].upper() + words[1:]
        elif before.isalnum():
            words = " " + words
    elif start and text[0].isalnum():
        words = " " + words
    if text[end : end + 1].isalnum():
        words += " "
    return words


def ends_sentence(text: str, at: int, *, before_capital: bool) -> bool:
    """Whether a full stop just before ``at`` ends a sentence and not only an abbreviation.

    ``before_capital`` decides before a capitalised word that does not itself tell.
    """
    ahead = _AHEAD.match(text, at)
    closers, space, word = ahead.groups() if ahead else ("", "", None)
    if word is None:
        return True
    if not space:
        return closers[:1] in ('"', "'")
    if word.lower() in STARTERS and word[0].isupper():
        return True
    return (before_capital and word[0].isupper()) or "\n" in space
