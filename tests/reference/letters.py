"""The letter network, one position at a time in exact integers."""

import numpy as np

CHANNELS, TAPS, CONTEXT = 128, 3, 3
PRIMARY = np.uint64(1 << 63)


class Weights:
    """The arrays of a blob in their order."""

    def __init__(self, blob, n_layers, n_letters, n_labels):
        self._blob, self._at = blob, 0
        self.embedding = self._affine(CHANNELS)
        self.embeddings = self._take(np.int8, 2 * CONTEXT + 1, n_letters + 2, CHANNELS)
        self.layers = [
            (self._affine(CHANNELS), self._take(np.int8, CHANNELS, TAPS * CHANNELS))
            for _ in range(n_layers)
        ]
        self.output = self._affine(n_labels)
        self.marks = self._take(np.uint64, n_labels)
        self.vectors = self._take(np.int8, n_labels, CHANNELS)
        assert self._at == len(blob)

    def _take(self, dtype, *shape):
        count = int(np.prod(shape))
        array = np.frombuffer(self._blob, dtype, count, self._at).reshape(shape)
        self._at += array.nbytes
        return array

    def _affine(self, n):
        return self._take(np.float32, n), self._take(np.float32, n)


def scores(weights, word):
    """The score of each label for each letter of word: float32 [letters, labels]."""
    edge = weights.embeddings.shape[1] - 1
    n = len(word)
    symbols = [0] * (CONTEXT - 1) + [edge] + [letter + 1 for letter in word] + [edge]
    symbols += [0] * (CONTEXT - 1)
    state = np.zeros((n + 2, CHANNELS), np.int16)
    for at in range(n):
        rows = [weights.embeddings[tap, symbols[at + tap]] for tap in range(2 * CONTEXT + 1)]
        state[at + 1] = _rectified(_scaled(np.sum(rows, 0, np.int64), weights.embedding))
    for affine, matrix in weights.layers:
        following = np.zeros_like(state)
        for at in range(n):
            window = state[at : at + TAPS].reshape(-1).astype(np.int64)
            added = _scaled(matrix.astype(np.int64) @ window, affine)
            following[at + 1] = _rectified(state[at + 1].astype(np.float32) + added)
        state = following
    vectors = weights.vectors.astype(np.int64)
    return np.array(
        [_scaled(vectors @ row.astype(np.int64), weights.output) for row in state[1:-1]]
    )


def _scaled(sums, affine):
    scale, bias = affine
    assert np.abs(sums).max() < 2**31
    return sums.astype(np.float32) * scale + bias


def _rectified(values):
    return (np.clip(values, np.float32(0), np.float32(32767)) + np.float32(0.5)).astype(np.int16)


def speak(weights, word, certain):
    """The label of each letter: one letter has the primary stress, or every one that is certain."""
    primary = (weights.marks & PRIMARY) != 0
    best, gains = [], []
    for letter, row in zip(word, scores(weights, word), strict=True):
        may = (weights.marks >> np.uint64(letter) & np.uint64(1)) != 0
        other = np.where(may & ~primary, row, -np.inf)
        stressed = np.where(may & primary, row, -np.inf)
        able = (may & primary).any()
        best.append((int((stressed if able else other).argmax()), int(other.argmax())))
        gains.append(stressed.max() - other.max())
    top = int(np.argmax(gains))
    return [
        pair[0] if at == top or gain > certain else pair[1]
        for at, (pair, gain) in enumerate(zip(best, gains, strict=True))
    ]
