"""What a synthesis returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from twinvox.audio import write_wav


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of the text: what was said, and where it starts and ends in seconds."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True, eq=False)
class Speech:
    """Synthesised speech.

    ``samples`` is mono float32 [n] in -1..1 at ``sample_rate`` Hz. ``timings`` holds the seconds
    spent in each stage. ``decoded_tokens`` int32 [n] are the speech tokens, and ``finished_on_eos``
    tells whether every segment ended with a stop token, not by its cap; both are None for backends
    without such tokens.
    """

    samples: npt.NDArray[np.float32]
    sample_rate: int
    segments: tuple[Segment, ...]
    timings: Mapping[str, float]
    seed: int
    finished_on_eos: bool | None = None
    decoded_tokens: npt.NDArray[np.int32] | None = None

    @property
    def seconds(self) -> float:
        """Length of the audio in seconds."""
        return len(self.samples) / self.sample_rate

    @property
    def generated_token_count(self) -> int | None:
        """The number of ``decoded_tokens``."""
        return None if self.decoded_tokens is None else len(self.decoded_tokens)

    @property
    def tokens_per_second(self) -> float | None:
        """Decoded tokens for each second of the decode stage."""
        if self.decoded_tokens is None or not self.timings.get("decode"):
            return None
        return len(self.decoded_tokens) / self.timings["decode"]

    def save(self, target: str | PathLike[str] | BinaryIO) -> None:
        """Write 16-bit PCM WAV to a path or an open binary file."""
        write_wav(target, self.samples, self.sample_rate)
