"""How words outside the lexicon sound, letter by letter."""

from typing import Final, Self, final

LONGEST: Final[int]
"""The most letters that a network takes at once."""

@final
class LetterNetwork:
    """A residual convolutional network over the letters of a word; immutable, shared by threads.

    ``weights`` are those of a ``letters.bin`` (see csrc/letters.h for their order); ValueError
    for another size than the counts need.
    """

    def __new__(cls, weights: bytes, *, n_layers: int, n_letters: int, n_labels: int) -> Self: ...
    def __call__(self, word: bytes) -> list[int]:
        """The label of each letter of ``word``: 1 to LONGEST letters, each below ``n_letters``.

        One letter has a label with a primary stress, if any may. ValueError for another word.
        """

    def _at_level(self, word: bytes, level: str) -> list[int]:
        """As a call, with the kernels of one of cpu.simd_levels(); the labels are the same."""
