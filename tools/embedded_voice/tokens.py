"""The token table of the embedded voice: espeak IPA scalars as piper-phonemize numbers them."""

from functools import cache
from pathlib import Path

import piper_phonemize

VOCABULARY_SIZE = 160
STRESS = "ˈˌ"
PUNCTUATION = ",.!?;:"


@cache
def token_ids() -> dict[str, int]:
    """Scalar -> id; `_` (0) is padding, `^` and `$` are never used, 3 is a space."""
    return {scalar: ids[0] for scalar, ids in piper_phonemize.get_espeak_map().items()}


@cache
def _scalars() -> dict[int, str]:
    return {number: scalar for scalar, number in token_ids().items()}


def encode(phonemes: str) -> list[int]:
    """Token ids of IPA; scalars outside the table are skipped, as the host does."""
    table = token_ids()
    return [table[scalar] for scalar in phonemes if scalar in table]


def is_timed(number: int) -> bool:
    """Whether a token occupies time of its own (stress marks and padding never do)."""
    scalar = _scalars().get(number, "_")
    return scalar not in "_^$" and scalar not in STRESS


def is_sound(number: int) -> bool:
    """Whether a token can begin an utterance: anything but padding, spaces and punctuation."""
    scalar = _scalars().get(number, "_")
    return scalar not in "_^$ " and scalar not in PUNCTUATION


STARTS_TEXT_AFTER = frozenset(token_ids()[mark] for mark in PUNCTUATION)


def write_table(path: Path) -> None:
    """tokens.txt: one `scalar TAB id` a line in id order; a space stays a literal space."""
    lines = [f"{scalar}\t{number}" for number, scalar in sorted(_scalars().items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
