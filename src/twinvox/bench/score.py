"""How much of a phrase was understood: word and character error rates of what was heard.

Both texts are first brought to one form: figures, units and abbreviations are read out by
twinvox's own rules, English or Mandarin; compatibility forms and case are folded; apostrophes
vanish and every other mark is a space. So "$5" and "five dollars" are the same, and "7.45 a.m." is
"7:45 a.m.". A Chinese character counts as a word. Spellings are left alone: "grey" heard as "gray"
is an error, as is a traditional character for a simplified one. As the same rules read the
reference, a figure that they misread and the recogniser writes as a figure again goes unnoticed.
"""

import re
import unicodedata
from collections.abc import Sequence

from twinvox.text import en_normalizer, zh_normalizer
from twinvox.text.zh_cleanup import HAN

_HAN = re.compile(f"[{HAN}]")
_APOSTROPHES = re.compile("['’‘ʼ]")
_MARKS = re.compile(r"[\W_]+")
_DOTTED_TIME = re.compile(r"\b(\d{1,2})\.(\d\d)(?=\s*[ap]\.?m\b)", re.IGNORECASE)


def language_of(text: str) -> str:
    """ "zh" for text with a Chinese character, else "en"."""
    return "zh" if _HAN.search(text) else "en"


def words_of(text: str, language: str) -> list[str]:
    """The words that are compared."""
    if language == "zh":
        read = zh_normalizer.normalize(text)
    else:
        read = en_normalizer.normalize(_DOTTED_TIME.sub(r"\1:\2", text))
    folded = _APOSTROPHES.sub("", unicodedata.normalize("NFKC", read).casefold())
    return _HAN.sub(r" \g<0> ", _MARKS.sub(" ", folded)).split()


def error_rates(reference: str, hypothesis: str) -> tuple[float, float]:
    """Word and character error rate of ``hypothesis``, 0 where it equals ``reference``."""
    language = language_of(reference)
    said, heard = words_of(reference, language), words_of(hypothesis, language)
    return _rate(said, heard), _rate("".join(said), "".join(heard))


def _rate(said: Sequence[str], heard: Sequence[str]) -> float:
    return edit_distance(said, heard) / max(len(said), 1)


def edit_distance(said: Sequence[str], heard: Sequence[str]) -> int:
    """The fewest substitutions, insertions and deletions that turn one into the other."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            cheapest = min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
            diagonal, row[j] = row[j], cheapest
    return row[-1]
