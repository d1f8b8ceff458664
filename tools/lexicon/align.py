"""Align the letters of words with their phonemes: each letter speaks none to three of them."""

import re
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from twinvox.text.g2p.letters import UNIT

VOWEL = re.compile(r"[aeiouæɐɑɒɔəɚɛɜɪʊʌᵻ]")
LIKELY = {
    "b": "b", "c": "k s tʃ ʃ", "d": "d t ɾ dʒ", "f": "f v", "g": "ɡ dʒ ʒ", "h": "h",
    "j": "dʒ j h", "k": "k", "l": "l", "m": "m", "n": "n ŋ", "p": "p f", "q": "k", "r": "ɹ",
    "s": "s z ʃ ʒ", "t": "t ɾ ʃ tʃ θ ð ʔ", "v": "v", "w": "w v", "x": "k z ɡ", "y": "j",
    "z": "z s t",
}  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MOST = 3
UNSEEN = 14.0

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def units(phonemes: str) -> list[str]:
    """``ˈækʃən`` as ``ˈæ k ʃ ə n``; a stress mark belongs to its vowel."""
    return UNIT.findall(phonemes)


def align(words: dict[str, str], rounds: int = 4) -> dict[str, list[str]]:
    """For each word (a to z only) what each letter speaks, a list as long as the word.

    Words whose phonemes are more than three times their letters are left out.
    """
    chunk_ids: dict[tuple[str, ...], int] = {(): 0}
    groups: dict[tuple[int, int], list[tuple[str, list[str]]]] = defaultdict(list)
    for word, phonemes in words.items():
        spoken = units(phonemes)
        if 0 < len(spoken) <= MOST * len(word):
            groups[len(word), len(spoken)].append((word, spoken))
    prepared = []
    for (length, count), pairs in groups.items():
        letters = np.array([[LETTERS.index(c) for c in word] for word, _ in pairs])
        chunks = np.zeros((len(pairs), count + 1, MOST + 1), np.int64)
        for row, (_, spoken) in enumerate(pairs):
            plain = [unit.strip("ˈˌ") for unit in spoken]
            for end in range(1, count + 1):
                for taken in range(1, min(MOST, end) + 1):
                    key = tuple(plain[end - taken : end])
                    chunks[row, end, taken] = chunk_ids.setdefault(key, len(chunk_ids))
        prepared.append((length, count, pairs, letters, chunks))
    costs = _first_costs(chunk_ids)
    for _ in range(rounds):
        counts = np.zeros_like(costs)
        for length, count, _, letters, chunks in prepared:
            for column, ends, taken in _path(length, count, letters, chunks, costs):
                used = np.take_along_axis(chunks[np.arange(len(ends)), ends], taken[:, None], 1)
                np.add.at(counts, (letters[:, column], used[:, 0]), 1)
        total = counts.sum(1, keepdims=True)
        seen = -np.log(np.maximum(counts, 1e-9) / np.maximum(total, 1))
        costs = np.where(counts > 0, seen, UNSEEN)
    found = {}
    for length, count, pairs, letters, chunks in prepared:
        spoken_by: list[list[str]] = [[""] * length for _ in pairs]
        for column, ends, taken in _path(length, count, letters, chunks, costs):
            for row, (end, used) in enumerate(zip(ends, taken, strict=True)):
                spoken_by[row][column] = "".join(pairs[row][1][end - used : end])
        found.update({word: spoken for (word, _), spoken in zip(pairs, spoken_by, strict=True)})
    return found


def _first_costs(chunk_ids: dict[tuple[str, ...], int]) -> Floats:
    costs = np.zeros((len(LETTERS), len(chunk_ids)))
    for chunk, column in chunk_ids.items():
        for row, letter in enumerate(LETTERS):
            cost = 2.5 if not chunk else 4.0 * (len(chunk) - 1)
            for unit in chunk:
                if unit in LIKELY.get(letter, "").split():
                    cost += 0.2
                elif (letter in "aeiouy") == bool(VOWEL.match(unit)):
                    cost += 1.5
                else:
                    cost += 6.0
            costs[row, column] = cost
    return costs


def _path(
    length: int, count: int, letters: Ints, chunks: Ints, costs: Floats
) -> list[tuple[int, Ints, Ints]]:
    """The cheapest alignments: for each letter (last first) the end and length of its chunk."""
    rows = len(letters)
    best = np.full((rows, count + 1), np.inf)
    best[:, 0] = 0.0
    choices = np.zeros((length, rows, count + 1), np.int64)
    for column in range(length):
        cost = costs[letters[:, column][:, None, None], chunks]
        following = np.full((rows, count + 1, MOST + 1), np.inf)
        for taken in range(min(MOST, count) + 1):
            following[:, taken:, taken] = best[:, : count + 1 - taken] + cost[:, taken:, taken]
        choices[column] = following.argmin(2)
        best = following.min(2)
    ends = np.full(rows, count)
    path = []
    for column in range(length - 1, -1, -1):
        taken = choices[column][np.arange(rows), ends]
        path.append((column, ends, taken))
        ends = ends - taken
    return path
