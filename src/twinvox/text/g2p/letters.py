"""Letter to sound: one decision tree a letter, learned from the lexicon's pronunciations.

``letters.bin`` is written by ``tools/lexicon/letter_to_sound.py``: the label table (uint16
count, then uint8 length and UTF-8 bytes each), 26 uint32 offsets counted in nodes, and the
nodes (uint16 each). A leaf is ``LEAF | label``; a question is ``feature << 8 | threshold``
followed by the distance to its "greater" branch as two nodes (low, high) and its other branch.
"""

import re
import struct
from array import array
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

ORDER = "aeiouywrlmnhbpvfgkqcxdtszj"
LEAF = 0x8000
BEFORE, AFTER = 8, 8
VOWELS = frozenset("aeiouæɐɑɒɔəɚɛɜɪʊʌᵻ")
UNIT = re.compile(r"[ˈˌ]?(?:aɪ|aʊ|eɪ|oʊ|ɔɪ|[aeiouæɐɑɒɔəɚɛɜɪʊʌᵻ])ː?|tʃ|dʒ|.[̩ː]?", re.DOTALL)
_UNITS = [
    "p", "b", "t", "d", "k", "ɡ", "f", "v", "θ", "ð", "s", "z", "ʃ", "ʒ", "tʃ", "dʒ", "h", "m",
    "n", "ŋ", "l", "ɹ", "w", "j", "ɾ", "ʔ", "n̩", "i", "iː", "ɪ", "ᵻ", "e", "eɪ", "ɛ", "æ", "a",
    "aɪ", "aʊ", "ɑː", "ɑ", "ɐ", "ə", "ɚ", "ɜː", "ʌ", "ɔ", "ɔː", "ɔɪ", "o", "oː", "oʊ", "u", "uː",
    "ʊ",
]  # fmt: skip
_UNIT_CODES = {unit: code for code, unit in enumerate(_UNITS, 1)}
_LETTER_CODES = {letter: code for code, letter in enumerate(ORDER, 1)}
_VOWEL_LETTERS = frozenset("aeiouy")


def encode(word: str) -> list[int]:
    """The letter codes of a word of a to z, with the padding that the context needs."""
    codes = [_LETTER_CODES[letter] for letter in word]
    return [0] * BEFORE + codes + [0] * AFTER


def vowel_groups(word: str) -> list[int]:
    """How many groups of vowel letters begin before each position; one more for the end."""
    counts, inside, total = [], False, 0
    for letter in word:
        counts.append(total)
        vowel = letter in _VOWEL_LETTERS
        total += vowel and not inside
        inside = vowel
    return [*counts, total]


class History:
    """What the letters behind have spoken, as the trees see it; words are read from their end.

    Endings settle the stress of what precedes them, so the trees learn better backwards.
    """

    def __init__(self) -> None:
        self.next = self.second = self.stress = self.next_stress = 0

    def add(self, chunk: str) -> None:
        for unit in reversed(UNIT.findall(chunk)):
            plain = unit.strip("ˈˌ")
            self.second, self.next = self.next, _UNIT_CODES.get(plain, 0)
            if plain[:1] in VOWELS:
                self.next_stress = 3 if "ˈ" in unit else 2 if "ˌ" in unit else 1
                self.stress = max(self.stress, self.next_stress)


def features(codes: Sequence[int], groups: Sequence[int], at: int, history: History) -> list[int]:
    """The questions' subjects for the letter ``at``: its context, the end, what was spoken."""
    length = len(groups) - 1
    end = BEFORE + length
    return [
        *codes[at : at + BEFORE + AFTER + 1],
        history.next,
        history.second,
        history.stress,
        history.next_stress,
        min(at, 15),
        min(length - at, 15),
        min(groups[at], 7),
        min(groups[length] - groups[at], 7),
        codes[end - 1],
        codes[end - 2],
        codes[end - 3],
        *codes[BEFORE : BEFORE + 3],
    ]


class LetterToSound:
    """The trees of a ``letters.bin``; immutable, shared by threads."""

    def __init__(self, path: str | PathLike[str]) -> None:
        data = Path(path).read_bytes()
        (count,) = struct.unpack_from("<H", data, 0)
        at = 2
        self._labels: list[str] = []
        for _ in range(count):
            length = data[at]
            self._labels.append(data[at + 1 : at + 1 + length].decode())
            at += 1 + length
        self._roots: tuple[int, ...] = struct.unpack_from("<26I", data, at)
        self._nodes: array[int] = array("H")
        self._nodes.frombytes(data[at + 26 * 4 :])

    def pronounce(self, word: str) -> str:
        """The phonemes of ``word`` (a to z only), with at least one primary stress."""
        codes, groups, history = encode(word), vowel_groups(word), History()
        chunks = []
        for at in range(len(word) - 1, -1, -1):
            chunk = self._decide(codes[BEFORE + at], features(codes, groups, at, history))
            history.add(chunk)
            chunks.append(chunk)
        return stressed("".join(reversed(chunks)))

    def _decide(self, letter: int, subject: list[int]) -> str:
        nodes, at = self._nodes, self._roots[letter - 1]
        while True:
            node = nodes[at]
            if node & LEAF:
                return self._labels[node & ~LEAF]
            if subject[node >> 8] > node & 0xFF:
                at += nodes[at + 1] | nodes[at + 2] << 16
            else:
                at += 3


def stressed(phonemes: str) -> str:
    """``phonemes`` with a primary stress: the last secondary one, or else the first vowel."""
    if "ˈ" in phonemes:
        return phonemes
    at = phonemes.rfind("ˌ")
    if at >= 0:
        return phonemes[:at] + "ˈ" + phonemes[at + 1 :]
    at = next((at for at, char in enumerate(phonemes) if char in VOWELS), len(phonemes))
    return phonemes[:at] + "ˈ" + phonemes[at:] if at < len(phonemes) else phonemes
