"""Letter to sound: a small network, learned from what the oracle makes of millions of words.

``letters.bin`` (little endian) is written by ``tools/lexicon/letter_to_sound.py``:

===============================  =============================================================
magic ``TVLS``                   4 bytes
version                          uint16
layers, letters, labels          3 x uint16
size of the weights              uint32
weights                          in the order of ``csrc/letters.h``
alphabet                         uint8 length, UTF-8 bytes
labels                           likewise, each the phonemes that one letter speaks
===============================  =============================================================
"""

import re
import struct
import unicodedata
from collections.abc import Container
from os import PathLike
from pathlib import Path

from twinvox._native.letters import LONGEST, LetterNetwork
from twinvox.errors import ModelFormatError

MAGIC = b"TVLS"
VERSION = 1
HEADER = struct.Struct("<4sHHHHI")
CACHE_LIMIT = 20_000
VOWELS = frozenset("aeiouæɐɑɒɔəɚɛɜɪʊʌᵻ")
UNIT = re.compile(r"[ˈˌ]?(?:aɪ|aʊ|eɪ|oʊ|ɔɪ|[aeiouæɐɑɒɔəɚɛɜɪʊʌᵻ])ː?|tʃ|dʒ|.[̩ː]?", re.DOTALL)
_SPELT = {"æ": "ae", "œ": "oe", "ø": "o", "ß": "ss", "ð": "th", "þ": "th", "đ": "d", "ł": "l",
          "ı": "i"}  # fmt: skip
_LIKE = {"ê": "ë"}  # too rare to be learned; the oracle reads it nearly so


def folded(word: str, kept: Container[str]) -> str:
    """``word`` in ASCII letters and apostrophes; others lose their accents, if not ``kept``."""
    if word.isascii() and word.isalpha():
        return word
    out = []
    for char in unicodedata.normalize("NFC", word):
        lower = _LIKE.get(char.lower(), char.lower())
        if lower in kept:
            out.append(lower.upper() if char.isupper() else lower)
            continue
        plain = unicodedata.normalize("NFKD", _SPELT.get(lower, char))
        letters = [part for part in plain if part.isascii() and (part.isalpha() or part == "'")]
        out += [part.upper() for part in letters] if char.isupper() else letters
    return "".join(out)


class LetterToSound:
    """The network of a ``letters.bin``, safe to share between threads.

    Raises `ModelFormatError` when the file is not one of this version.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        data = Path(path).read_bytes()
        if len(data) < HEADER.size:
            raise ModelFormatError(f"{path}: {len(data)} bytes are too few for a letter network")
        magic, version, n_layers, n_letters, n_labels, size = HEADER.unpack_from(data)
        if magic != MAGIC or version != VERSION:
            raise ModelFormatError(
                f"{path}: expected a letter network of version {VERSION} ({MAGIC!r}), "
                f"found {magic!r} version {version}; reinstall twinvox"
            )
        at = HEADER.size + size
        try:
            alphabet, *labels = _strings(data[at:]) or [""]
            if len(alphabet) != n_letters or len(labels) != n_labels:
                raise ValueError(
                    f"{n_letters} letters and {n_labels} labels announced, "
                    f"{len(alphabet)} and {len(labels)} held"
                )
            self._network = LetterNetwork(
                data[HEADER.size : at], n_layers=n_layers, n_letters=n_letters, n_labels=n_labels
            )
        except ValueError as error:
            raise ModelFormatError(f"{path}: {error}") from error
        self.alphabet = frozenset(alphabet)
        self._codes = {letter: code for code, letter in enumerate(alphabet)}
        self._labels = labels
        self._cache: dict[str, str] = {}

    def pronounce(self, word: str) -> str:
        """The phonemes of ``word``, whose letters are all in `alphabet`, stressed somewhere.

        A word longer than the network takes is spoken in pieces.
        """
        found = self._cache.get(word)
        if found is None:
            codes = bytes(map(self._codes.__getitem__, word))
            pieces = (codes[at : at + LONGEST] for at in range(0, len(codes), LONGEST))
            labels = self._labels
            found = "".join(labels[label] for piece in pieces for label in self._network(piece))
            if len(self._cache) < CACHE_LIMIT:
                self._cache[word] = found
        return found


def _strings(table: bytes) -> list[str]:
    strings, at = [], 0
    while at < len(table):
        strings.append(table[at + 1 : at + 1 + table[at]].decode())
        at += 1 + table[at]
    return strings
