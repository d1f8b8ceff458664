"""Learn the letter-to-sound trees that speak words outside the lexicon."""

import struct
from array import array
from collections import Counter

import numpy as np
from align import align
from sklearn.tree import DecisionTreeClassifier

from twinvox.text.g2p.letters import LEAF, ORDER, History, encode, features, vowel_groups

LEAST_GAIN = 2e-6  # of a question, over its letter's samples: 90,000 leaves, 0.8 MB
RARE = 2  # a chunk seen less often than this is not learned


def train(words: dict[str, str]) -> bytes:
    """The bytes of ``letters.bin`` for ``words`` (a to z) and their phonemes."""
    subjects: dict[str, list[list[int]]] = {letter: [] for letter in ORDER}
    answers: dict[str, list[str]] = {letter: [] for letter in ORDER}
    for word, chunks in align(words).items():
        codes, groups, history = encode(word), vowel_groups(word), History()
        for at in range(len(word) - 1, -1, -1):
            letter, chunk = word[at], chunks[at]
            subjects[letter].append(features(codes, groups, at, history))
            answers[letter].append(chunk)
            history.add(chunk)
    labels: dict[str, int] = {}
    trees = {letter: _tree(letter, subjects[letter], answers[letter], labels) for letter in ORDER}
    nodes, roots = array("H"), []
    for letter in ORDER:
        roots.append(len(nodes))
        nodes.extend(trees[letter])
    table = b"".join(bytes((len(c.encode()),)) + c.encode() for c in labels)
    return struct.pack("<H", len(labels)) + table + struct.pack("<26I", *roots) + nodes.tobytes()


def _tree(
    letter: str, subjects: list[list[int]], answers: list[str], labels: dict[str, int]
) -> list[int]:
    counts = Counter(answers)
    kept = [i for i, answer in enumerate(answers) if counts[answer] >= RARE]
    if not kept:
        return [LEAF | labels.setdefault("", len(labels))]
    tree = DecisionTreeClassifier(
        criterion="entropy", min_impurity_decrease=LEAST_GAIN, random_state=0
    )
    tree.fit(
        np.array([subjects[i] for i in kept], np.float32),
        np.array([answers[i] for i in kept]),
    )
    inner = tree.tree_
    out: list[int] = []

    def write(node: int) -> None:
        if inner.children_left[node] < 0:
            answer = str(tree.classes_[inner.value[node][0].argmax()])
            out.append(LEAF | labels.setdefault(answer, len(labels)))
            return
        at = len(out)
        out.extend((int(inner.feature[node]) << 8 | int(inner.threshold[node]), 0, 0))
        write(inner.children_left[node])
        distance = len(out) - at
        out[at + 1], out[at + 2] = distance & 0xFFFF, distance >> 16
        write(inner.children_right[node])

    write(0)
    return out
