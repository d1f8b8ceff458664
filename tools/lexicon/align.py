"""Align the letters of words with their phonemes: each letter speaks none to three of them."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twinvox.text.g2p.letters import folded

VOWEL = re.compile(r"[aeiouæɐɑɒɔəɚɛɜɪʊʌᵻ]")
# A w that is spelt is one unit, or else it would speak more than MOST.
UNIT = re.compile(
    r"d[ˈˌ]?ʌbəlj[ˈˌ]?uː|[ˈˌ]?(?:aɪ|aʊ|eɪ|oʊ|ɔɪ|[aeiouæɐɑɒɔəɚɛɜɪʊʌᵻ])ː?|tʃ|dʒ|.[̩ː̃ʲ̧]?", re.DOTALL
)
LIKELY = {
    "b": "b", "c": "k s tʃ ʃ", "d": "d t ɾ dʒ", "f": "f v", "g": "ɡ dʒ ʒ", "h": "h",
    "j": "dʒ j h", "k": "k", "l": "l", "m": "m", "n": "n ŋ", "p": "p f", "q": "k", "r": "ɹ",
    "s": "s z ʃ ʒ", "t": "t ɾ ʃ tʃ θ ð ʔ", "v": "v", "w": "w v", "x": "k z ɡ", "y": "j",
    "z": "z s t",
}  # fmt: skip
ACCENTS = "àáâäãåçèéêëíîïñóôöøúûüýšžčşð"  # the oracle tells them apart; it folds others
ALPHABET = "abcdefghijklmnopqrstuvwxyz'" + ACCENTS
MOST = 3
UNSEEN = 14.0
UNKNOWN = ("?",)  # a chunk that no learned word had
BATCH = 20_000
_PLAIN = str.maketrans("", "", "ˈˌ")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Costs:
    """What it costs a letter to speak a chunk; chunks are without stress."""

    chunk_ids: dict[tuple[str, ...], int]
    costs: Floats


@dataclass(frozen=True)
class _Batch:
    """Words of one length with equally many units."""

    pairs: list[tuple[str, list[str]]]
    letters: Ints
    chunks: Ints  # [words, end, units taken]: the chunk that ends there

    def path(self, costs: Floats) -> Iterator[tuple[int, Ints, Ints]]:
        """The cheapest alignments: for each letter (last first) the end and length of its chunk."""
        rows, length = self.letters.shape
        count = self.chunks.shape[1] - 1
        best = np.full((rows, count + 1), np.inf)
        best[:, 0] = 0.0
        choices = np.zeros((length, rows, count + 1), np.int64)
        for column in range(length):
            cost = costs[self.letters[:, column][:, None, None], self.chunks]
            following = np.full((rows, count + 1, MOST + 1), np.inf)
            for taken in range(min(MOST, count) + 1):
                following[:, taken:, taken] = best[:, : count + 1 - taken] + cost[:, taken:, taken]
            choices[column] = following.argmin(2)
            best = following.min(2)
        ends = np.full(rows, count)
        for column in range(length - 1, -1, -1):
            taken = choices[column][np.arange(rows), ends]
            yield column, ends, taken
            ends = ends - taken


def units(phonemes: str) -> list[str]:
    """``ˈækʃən`` as ``ˈæ k ʃ ə n``; a stress mark belongs to its vowel."""
    return UNIT.findall(phonemes)


def learn(words: dict[str, str], rounds: int = 4) -> Costs:
    """The costs under which the alignments of ``words`` are likeliest."""
    chunk_ids: dict[tuple[str, ...], int] = {(): 0, UNKNOWN: 1}
    batches = list(_batches(words, chunk_ids, grow=True))
    costs = _first_costs(chunk_ids)
    for _ in range(rounds):
        counts = np.zeros_like(costs)
        for batch in batches:
            rows = np.arange(len(batch.pairs))
            for column, ends, taken in batch.path(costs):
                np.add.at(counts, (batch.letters[:, column], batch.chunks[rows, ends, taken]), 1)
        total = counts.sum(1, keepdims=True)
        seen = -np.log(np.maximum(counts, 1e-9) / np.maximum(total, 1))
        costs = np.where(counts > 0, seen, UNSEEN)
    costs[:, chunk_ids[UNKNOWN]] = 1.5 * UNSEEN
    return Costs(chunk_ids, costs)


def align(words: dict[str, str], learned: Costs | None = None) -> dict[str, list[str]]:
    """For each word (of `ALPHABET`) what each letter speaks, a list as long as the word.

    Words whose phonemes are more than three times their letters are left out.
    """
    learned = learned or learn(words)
    found: dict[str, list[str]] = {}
    for batch in _batches(words, learned.chunk_ids, grow=False):
        spoken = [[""] * len(word) for word, _ in batch.pairs]
        for column, ends, taken in batch.path(learned.costs):
            for row, (end, used) in enumerate(zip(ends.tolist(), taken.tolist(), strict=True)):
                spoken[row][column] = "".join(batch.pairs[row][1][end - used : end])
        found.update({word: s for (word, _), s in zip(batch.pairs, spoken, strict=True)})
    return found


def _batches(
    words: dict[str, str], chunk_ids: dict[tuple[str, ...], int], *, grow: bool
) -> Iterator[_Batch]:
    groups: dict[tuple[int, int], list[tuple[str, list[str]]]] = defaultdict(list)
    for word, phonemes in words.items():
        spoken = units(phonemes)
        if 0 < len(spoken) <= MOST * len(word):
            groups[len(word), len(spoken)].append((word, spoken))
    codes = {letter: code for code, letter in enumerate(ALPHABET)}
    for (_, count), pairs in groups.items():
        for at in range(0, len(pairs), BATCH):
            part = pairs[at : at + BATCH]
            letters = np.array([[codes[c] for c in word] for word, _ in part])
            chunks = np.zeros((len(part), count + 1, MOST + 1), np.int64)
            for row, (_, spoken) in enumerate(part):
                plain = [unit.translate(_PLAIN) for unit in spoken]
                for end in range(1, count + 1):
                    for taken in range(1, min(MOST, end) + 1):
                        key = tuple(plain[end - taken : end])
                        if grow:
                            chunks[row, end, taken] = chunk_ids.setdefault(key, len(chunk_ids))
                        else:
                            chunks[row, end, taken] = chunk_ids.get(key, chunk_ids[UNKNOWN])
            yield _Batch(part, letters, chunks)


def _first_costs(chunk_ids: dict[tuple[str, ...], int]) -> Floats:
    costs = np.zeros((len(ALPHABET), len(chunk_ids)))
    for chunk, column in chunk_ids.items():
        for row, accented in enumerate(ALPHABET):
            letter = folded(accented, "")[0]
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
