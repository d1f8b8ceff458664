"""Score the English front end against espeak-ng, or record what espeak-ng says.

    python tools/g2p_oracle.py score prose.txt chat.txt --show 20
    python tools/g2p_oracle.py record sentences.txt > tests/text/data/sentences.tsv

A corpus has one sentence a line; its file name is its category. Needs the extra ``tools``.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "lexicon"))

from oracle import phonemize

from twinvox.text.en_normalizer import normalize
from twinvox.text.g2p import G2p


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("score", "record"))
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, help="take only the first sentences of each corpus")
    parser.add_argument("--show", type=int, default=0, help="list the first differences")
    args = parser.parse_args()
    if args.action == "record":
        print(f"# python tools/g2p_oracle.py record {' '.join(p.name for p in args.corpora)}")
        for path in args.corpora:
            for text in _sentences(path, args.limit):
                print(f"{text}\t{phonemize(normalize(text))}")
        return
    g2p = G2p()
    print(f"{'corpus':24} {'sentences':>9} {'exact %':>8} {'token edits %':>13}")
    for path in args.corpora:
        _score(g2p, path, args.limit, args.show)


def _sentences(path: Path, limit: int | None) -> list[str]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").split("\n")]
    return [line for line in lines if line and not line.startswith("#")][:limit]


def _score(g2p: G2p, path: Path, limit: int | None, show: int) -> None:
    texts = _sentences(path, limit)
    exact = edits = tokens = 0
    differing = []
    for text in texts:
        expected, found = phonemize(normalize(text)), g2p.phonemize(text)
        tokens += len(expected)
        if found == expected:
            exact += 1
        else:
            edits += edit_distance(expected, found)
            differing.append((text, expected, found))
    print(
        f"{path.name:24} {len(texts):9} {100 * exact / max(1, len(texts)):8.2f} "
        f"{100 * edits / max(1, tokens):13.3f}"
    )
    for text, expected, found in differing[:show]:
        print(f"  {text}")
        for left, right in differences(expected, found):
            print(f"      espeak {left!r}  ours {right!r}")


def differences(expected: str, found: str) -> Iterator[tuple[str, str]]:
    """The runs of words that differ, with the word before each."""
    left, right = expected.split(" "), found.split(" ")
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    tail = 0
    while tail < min(len(left), len(right)) - start and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    first = max(0, start - 1)
    yield " ".join(left[first : len(left) - tail]), " ".join(right[first : len(right) - tail])


def edit_distance(left: str, right: str) -> int:
    """Insertions, deletions and substitutions of single tokens."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


if __name__ == "__main__":
    main()
