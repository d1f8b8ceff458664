"""Score the English front end against espeak-ng, or record what espeak-ng says.

    python tools/g2p_oracle.py score prose.txt recorded.tsv --show 20 --clusters 40
    python tools/g2p_oracle.py record sentences.txt > sentences.tsv

A corpus is a ``.txt`` with one sentence a line, whose phonemes the oracle is asked for, or a
recorded ``.tsv`` of ``sentence TAB phonemes``, which needs no oracle. Its file name is its
category. Both sides read the text as the model's training text was prepared (``upstream``).
The oracle comes with the extra ``tools``.
"""

import argparse
import difflib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from twinvox.text.en_normalizer import normalize
from twinvox.text.g2p import G2p

NORMALIZATION = "upstream"

Pairs = Iterable[tuple[str, str]]


@dataclass
class Score:
    """How often one side speaks sentences as the other; tokens are single IPA scalars."""

    sentences: int = 0
    exact: int = 0
    tokens: int = 0
    edits: int = 0
    differences: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def exact_percent(self) -> float:
        return 100 * self.exact / max(1, self.sentences)

    @property
    def edit_percent(self) -> float:
        return 100 * self.edits / max(1, self.tokens)

    def add(self, text: str, expected: str, found: str) -> None:
        self.sentences += 1
        self.tokens += len(expected)
        if found == expected:
            self.exact += 1
        else:
            self.edits += edit_distance(expected, found)
            self.differences.append((text, expected, found))

    def rates(self) -> dict[str, float]:
        counts = asdict(self)
        del counts["differences"]
        return counts | {"exact_percent": self.exact_percent, "edit_percent": self.edit_percent}

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.sentences + other.sentences,
            self.exact + other.exact,
            self.tokens + other.tokens,
            self.edits + other.edits,
            self.differences + other.differences,
        )


def score(pairs: Pairs, speak: Callable[[str], str]) -> Score:
    """``speak`` of each sentence against the phonemes that stand beside it."""
    total = Score()
    for text, expected in pairs:
        total.add(text, expected, speak(text))
    return total


def upstream_speaker() -> Callable[[str], str]:
    """Our engine, reading the text as the recorded phonemes were asked for."""
    return partial(G2p().phonemize, normalization=NORMALIZATION)


def corpus(path: Path, limit: int | None = None) -> Iterator[tuple[str, str]]:
    """Sentences and the oracle's phonemes: as recorded in a ``.tsv``, else by asking it."""
    lines = path.read_text(encoding="utf-8").split("\n")
    lines = [line for line in lines if line.strip() and not line.startswith("# ")][:limit]
    if path.suffix == ".tsv":
        for line in lines:
            text, phonemes = line.split("\t")
            yield text, phonemes
        return
    oracle = _oracle()
    for line in lines:
        text = line.strip()
        yield text, oracle(normalize(text, NORMALIZATION))


def _oracle() -> Callable[[str], str]:
    sys.path.insert(0, str(Path(__file__).parent / "lexicon"))
    from oracle import phonemize

    return phonemize


def difference(expected: str, found: str) -> tuple[str, str]:
    """From the first to the last word that differs, with the word before."""
    left, right = expected.split(" "), found.split(" ")
    start, end = _common(left, right)
    first = max(0, start - 1)
    return " ".join(left[first : len(left) - end]), " ".join(right[first : len(right) - end])


def clusters(differences: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, int, str]]:
    """The oracle's words against ours with their count and a sentence, most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    example: dict[tuple[str, str], str] = {}
    for text, expected, found in differences:
        for pair in _word_pairs(expected.split(" "), found.split(" ")):
            counts[pair] += 1
            example.setdefault(pair, text)
    return [(*pair, count, example[pair]) for pair, count in counts.most_common()]


def _word_pairs(left: list[str], right: list[str]) -> Iterator[tuple[str, str]]:
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for kind, left_from, left_to, right_from, right_to in matcher.get_opcodes():
        words, ours = left[left_from:left_to], right[right_from:right_to]
        if kind == "equal":
            continue
        if len(words) == len(ours):
            yield from map(_without_shared_mark, words, ours)
        else:
            yield " ".join(words), " ".join(ours)


def _without_shared_mark(word: str, our: str) -> tuple[str, str]:
    mark = word[-1:]
    return (word[:-1], our[:-1]) if mark in {*",.!?:;…"} and our.endswith(mark) else (word, our)


def edit_distance(left: str, right: str) -> int:
    """Insertions, deletions and substitutions of single tokens."""
    start, end = _common(left, right)
    left, right = left[start : len(left) - end], right[start : len(right) - end]
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def _common(left: str | list[str], right: str | list[str]) -> tuple[int, int]:
    """How many items both share at the start, and at the end of what is left."""
    most = min(len(left), len(right))
    start = next((i for i in range(most) if left[i] != right[i]), most)
    most -= start
    return start, next((i for i in range(most) if left[-1 - i] != right[-1 - i]), most)


def _score(args: argparse.Namespace) -> None:
    speak = upstream_speaker()
    categories: dict[str, Score] = {}
    started = time.perf_counter()
    for path in args.corpora:
        found = score(corpus(path, args.limit), speak)
        categories[path.stem] = categories.get(path.stem, Score()) + found
    seconds = time.perf_counter() - started
    total = sum(categories.values(), Score())
    shown = {name: found.differences[: args.show] for name, found in categories.items()}
    clustered = clusters(total.differences)[: args.clusters]
    if args.json:
        report = {name: found.rates() for name, found in categories.items()}
        result = {"categories": report, "total": total.rates(), "seconds": seconds}
        result |= {"differences": shown, "clusters": clustered}
        print(json.dumps(result, ensure_ascii=False))
        return
    print(f"{'category':16} {'sentences':>9} {'exact %':>8} {'token edits %':>13}")
    for name, found in [*categories.items(), ("total", total)]:
        print(
            f"{name:16} {found.sentences:9} {found.exact_percent:8.2f} {found.edit_percent:13.3f}"
        )
        for text, expected, ours in shown.get(name, []):
            left, right = difference(expected, ours)
            print(f"  {text}\n      espeak {left!r}  ours {right!r}")
    print(f"{total.sentences / seconds:.0f} sentences/s")
    for left, right, count, text in clustered:
        print(f"{count:6}  espeak {left!r}  ours {right!r}  in: {text}")


def _record(args: argparse.Namespace) -> None:
    print(f"# python tools/g2p_oracle.py record {' '.join(path.name for path in args.corpora)}")
    for path in args.corpora:
        for text, phonemes in corpus(path, args.limit):
            print(f"{text}\t{phonemes}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("score", "record"))
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, help="take only the first sentences of each corpus")
    parser.add_argument("--show", type=int, default=0, help="list the first differences")
    parser.add_argument("--clusters", type=int, default=0, help="list the most frequent ones")
    parser.add_argument("--json", action="store_true", help="print one object")
    args = parser.parse_args()
    {"score": _score, "record": _record}[args.action](args)


if __name__ == "__main__":
    main()
