"""Learn the network that speaks words outside the lexicon.

    python tools/lexicon/letter_to_sound.py --cache build/letters

Writes ``letters.bin`` beside ``english.lex``, from whose words it learns, along with three million
others that the oracle is asked for: a quarter of an hour, unless ``--cache`` holds its answers.
Training takes about half an hour on one core with bfloat16 instructions. It never sees the words of
``tests/text/data/hidden_*.tsv``. Needs the extra ``tools``.
"""

import argparse
import math
import pickle
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from align import ALPHABET, align, learn
from invent import ACCENTING, FAR, NEAR, invent
from letter_network import CHANNELS, LetterNetwork, export
from numpy.typing import NDArray
from oracle import base_forms
from torch.nn import functional
from words import listed, words

from twinvox.text.g2p.letters import LetterToSound
from twinvox.text.g2p.lexicon import Lexicon

ROOT = Path(__file__).parents[2]
DATA = ROOT / "src/twinvox/text/g2p/data"
HIDDEN = sorted((ROOT / "tests/text/data").glob("hidden_*.tsv"))
SEED = 1
# How often a word of each pool is seen in a round.
SHARES = {
    "lexicon": 8.0, "en": 6.0, "names": 4.0, "inflected": 4.0, "affixed": 2.5, "crossed": 2.5,
    "likeness_3": 2.0, "likeness_4": 2.0, "names_likeness": 2.0, "slips": 2.0, "compounds": 1.5,
    **dict.fromkeys(NEAR, 2.0), **dict.fromkeys(FAR, 1.5), "names_accented": 3.0,
    "apostrophes": 3.0,
    **{f"{language}_accented": 1.5 for language in ACCENTING},
}  # fmt: skip
LONGEST = 22  # letters of a word to learn from
RARE = 3  # a label that fewer letters of the lexicon speak is not learned
ALIGNED = 120_000  # words that the alignment is learned from
CHOSEN = 3_000  # words of the lexicon to watch the progress on, not learned from

STEPS, BATCH, WARM_UP = 18_000, 512, 200
RATE, OTHER_RATE, LAST_RATE = 0.05, 4e-3, 0.002  # the last as a share of the first ones
MOMENTUM, DECAY, AVERAGED = 0.95, 0.01, 0.999
REPORT = 1_000

PLAIN = re.compile(r"[a-z]{2,}")
Words = dict[str, str]
Made = TypeVar("Made")


def train(words: Words, keep: Callable[[bytes], object], cache: Path | None, steps: int) -> None:
    """``keep`` the bytes of a ``letters.bin`` for ``words`` (a to z) and their phonemes."""
    hidden = {line.split("\t")[0] for path in HIDDEN for line in path.read_text().split("\n")}
    known = sorted(words.keys() - hidden)
    chosen = random.Random(SEED).sample(known, CHOSEN)
    learned = sorted({*known} - {*chosen})
    random.Random(SEED).shuffle(learned)
    invented = _cached(cache, "invented", lambda: invent(learned, {*hidden, *chosen}))
    answers = {
        name: _cached(cache, name, lambda pool=pool: _asked(pool))
        for name, pool in invented.items()
    }
    answers["lexicon"] = {word: words[word] for word in learned}
    sample = {word: words[word] for word in learned[:ALIGNED]}
    costs = learn(sample | answers["names_accented"] | answers["apostrophes"])
    aligned = {
        name: _cached(cache, f"{name}_aligned", lambda said=said: align(said, costs))
        for name, said in answers.items()
    }
    counts = _counts(aligned["lexicon"])
    labels = [label for label, count in counts.items() if count >= RARE]
    corpus = Corpus(aligned, labels)
    fit(corpus, {word: words[word] for word in chosen}, steps, keep)


def _counts(aligned: dict[str, list[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for chunks in aligned.values():
        for chunk in chunks:
            counts[chunk] = counts.get(chunk, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _asked(words: Sequence[str]) -> Words:
    """What the oracle says of ``words``, without those that it makes several of."""
    return {word: spoken for word, spoken in base_forms(words).items() if " " not in spoken}


def _cached(cache: Path | None, name: str, make: Callable[[], Made]) -> Made:
    path = cache / f"{name}.pickle" if cache else None
    if path and path.exists():
        return pickle.loads(path.read_bytes())
    made = make()
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(made))
    return made


class Corpus:
    """Words and the labels of their letters, by length; each pool as often as is its share."""

    def __init__(self, pools: dict[str, dict[str, list[str]]], labels: list[str]) -> None:
        self.labels = labels
        self.spoken = np.zeros((len(ALPHABET), len(labels)), np.int64)
        ids = {label: at for at, label in enumerate(labels)}
        codes = {letter: code for code, letter in enumerate(ALPHABET, 1)}
        by_length: dict[int, list[tuple[list[int], list[int], float]]] = {}
        for name, aligned in pools.items():
            for word, chunks in aligned.items():
                if len(word) <= LONGEST and all(chunk in ids for chunk in chunks):
                    letters = [codes[letter] for letter in word]
                    row = (letters, [ids[chunk] for chunk in chunks], SHARES[name])
                    by_length.setdefault(len(word), []).append(row)
        self._random = np.random.default_rng(SEED)
        self._words: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for length, rows in by_length.items():
            letters = np.array([row[0] for row in rows], np.uint8)
            spoken = np.array([row[1] for row in rows], np.int16)
            self._words[length] = letters, spoken, np.array([row[2] for row in rows])
            np.add.at(self.spoken, (letters - 1, spoken), 1)

    def round(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Batches of letters and labels [words, length], each of one length, in random order."""
        batches: list[tuple[int, np.ndarray]] = []
        for length, (_, _, shares) in self._words.items():
            times = np.floor(shares + self._random.random(len(shares))).astype(int)
            order = np.repeat(np.arange(len(shares), dtype=np.int32), times)
            self._random.shuffle(order)
            batches += [(length, order[at : at + BATCH]) for at in range(0, len(order), BATCH)]
        for at in self._random.permutation(len(batches)):
            length, rows = batches[at]
            letters, spoken, _ = self._words[length]
            if len(rows) >= BATCH // 32:  # the norms need more than a handful
                yield (
                    torch.from_numpy(letters[rows].astype(np.int64)),
                    torch.from_numpy(spoken[rows].astype(np.int64)),
                )

    def allowed(self) -> NDArray[np.bool_]:
        """Which letter may speak which label [letters, labels]: one unstressed at least."""
        allowed = self.spoken > 1
        unstressed = ["ˈ" not in label for label in self.labels]
        allowed[~allowed[:, unstressed].any(1), self.labels.index("")] = True
        return allowed

    def sample(self) -> Iterator[torch.Tensor]:
        for letters, _, _ in self._words.values():
            yield torch.from_numpy(letters[: 2 * BATCH].astype(np.int64))


def fit(corpus: Corpus, chosen: Words, steps: int, keep: Callable[[bytes], object]) -> None:
    """Learn for ``steps`` batches; ``keep`` what is shipped, the running average, now and then."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    network, average = LetterNetwork(len(corpus.labels)), LetterNetwork(len(corpus.labels))
    average.load_state_dict(network.state_dict())
    matrices = [layer.weight for layer in network.layers]
    others = [p for p in network.parameters() if all(p is not matrix for matrix in matrices)]
    adam = torch.optim.Adam(others, lr=OTHER_RATE, betas=(0.9, 0.99))
    momenta = [torch.zeros_like(matrix) for matrix in matrices]
    batches: Iterator[tuple[torch.Tensor, torch.Tensor]] = iter(())
    started, recent = time.monotonic(), 0.0
    for step in range(1, steps + 1):
        batch = next(batches, None)
        if batch is None:
            batches = corpus.round()
            batch = next(batches)
        letters, labels = batch
        with torch.autocast("cpu", torch.bfloat16):
            scores = network(letters)
        loss = functional.cross_entropy(scores.float(), labels)
        network.zero_grad(set_to_none=True)
        loss.backward()
        share = min(1, step / WARM_UP) * (
            LAST_RATE + 0.5 * (1 + math.cos(math.pi * (step - 1) / steps))
        )
        adam.param_groups[0]["lr"] = OTHER_RATE * share
        adam.step()
        _turn(matrices, momenta, RATE * share)
        _follow(average, network, min(AVERAGED, step / (9 + step)))
        recent += (loss.item() - recent) * (0.01 if step > 1 else 1)
        if step % REPORT == 0 or step in (1, steps):
            shipped = _shipped(average, corpus)
            keep(shipped)
            right = accuracy(shipped, chosen)
            spent = time.monotonic() - started
            print(f"step {step}: loss {recent:.4f}, {right:.2%} exact, {spent:.0f} s", flush=True)


@torch.no_grad()
def _turn(matrices: list[torch.Tensor], momenta: list[torch.Tensor], rate: float) -> None:
    """Muon: a step along the momentum with all its singular values made about one."""
    for matrix, momentum in zip(matrices, momenta, strict=True):
        gradient = matrix.grad
        momentum.mul_(MOMENTUM).add_(gradient)
        step = gradient.add(momentum, alpha=MOMENTUM).reshape(CHANNELS, -1).bfloat16()
        step = step / (step.norm() + 1e-7)
        for _ in range(5):  # Newton-Schulz
            square = step @ step.T
            step = 3.4445 * step + (-4.7750 * square + 2.0315 * square @ square) @ step
        matrix.mul_(1 - DECAY * rate).add_(step.float().reshape(matrix.shape), alpha=-rate)


@torch.no_grad()
def _follow(average: LetterNetwork, network: LetterNetwork, kept: float) -> None:
    for ours, value in zip(
        average.state_dict().values(), network.state_dict().values(), strict=True
    ):
        if value.dtype.is_floating_point:
            ours.lerp_(value, 1 - kept)


@torch.no_grad()
def _shipped(average: LetterNetwork, corpus: Corpus) -> bytes:
    average.eval()
    peak = max(
        float(state.max()) for letters in corpus.sample() for state in average.states(letters)
    )
    return export(average, corpus.labels, corpus.allowed(), peak)


def accuracy(shipped: bytes, words: Words) -> float:
    """The share of ``words`` that the shipped form speaks exactly so."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(shipped)
        letters = LetterToSound(file.name)
    return sum(letters.pronounce(word) == said for word, said in words.items()) / len(words)


def lexicon_words() -> Words:
    """The lexicon's words of a to z that the oracle speaks as one, with their base forms."""
    lexicon = Lexicon(DATA / "english.lex")
    found: Words = {}
    for word in [*words(), *listed("wordnet")]:
        entry = lexicon.find(word) if PLAIN.fullmatch(word) else None
        if entry is not None and " " not in entry.base:
            found[word] = entry.base
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=DATA / "letters.bin")
    parser.add_argument("--cache", type=Path, help="folder to keep the oracle's answers in")
    parser.add_argument("--steps", type=int, default=STEPS)
    args = parser.parse_args()
    train(lexicon_words(), args.out.write_bytes, args.cache, args.steps)


if __name__ == "__main__":
    main()
