"""Seeded random numbers that are the same on every platform."""

from typing import final

import numpy as np
import numpy.typing as npt

def derive_seed(seed: int, index: int) -> int:
    """The seed of item `index` (a segment, say) of the work that `seed` names, in [0, 2**64).

    Both are in [0, 2**64); ValueError otherwise.
    """

@final
class Rng:
    """xoshiro256++ seeded by splitmix64; its samples depend on the seed alone.

    ValueError unless 0 <= seed < 2**64. One Rng belongs to one synthesis: threads that share one
    get samples of no defined order.
    """

    def __init__(self, seed: int) -> None: ...
    def uniform(self, shape: int | tuple[int, ...]) -> npt.NDArray[np.float32]:
        """Samples in [0, 1), multiples of 2**-24; n samples advance the generator by n."""

    def gaussian(self, shape: int | tuple[int, ...]) -> npt.NDArray[np.float32]:
        """Standard normal samples; n samples advance the generator by ceil(n / 2)."""
