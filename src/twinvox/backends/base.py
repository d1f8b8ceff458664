"""What every backend shares: a stream of segments, and the one-shot synthesis as its join."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike

import numpy as np

from twinvox.audio import Samples, SegmentJoiner
from twinvox.speech import Segment, Speech
from twinvox.voice import Voice

DEFAULT_SEED = 42
DEFAULT_VOICE = "female"

ProgressCallback = Callable[[int, int, str], bool | None]
VoiceSource = Voice | str | PathLike[str] | None


class Stopped(Exception):
    """The progress callback asked to stop."""


class Progress:
    """Counts finished steps, and raises Stopped once the callback returns False."""

    def __init__(self, total: int, callback: ProgressCallback | None) -> None:
        self._done = 0
        self._total = total
        self._callback = callback

    def step(self, stage: str) -> None:
        self._done += 1
        if self._callback and self._callback(self._done, self._total, stage) is False:
            raise Stopped


class Timings(dict[str, float]):
    """Seconds spent in each stage."""

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, time.perf_counter() - start)

    def add(self, stage: str, seconds: float) -> None:
        self[stage] = self.get(stage, 0.0) + seconds


def check_seed(seed: int) -> int:
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed is {seed}; expected 0 to 2**64 - 1")
    return int(seed)


def resolve_voice(voice: VoiceSource) -> Voice:
    """A voice as given, or loaded by path or shipped name; None is the default shipped voice."""
    if isinstance(voice, Voice):
        return voice
    return Voice.load(DEFAULT_VOICE if voice is None else voice)


def join_segments(
    segments: Sequence[tuple[str, Callable[[Timings], Samples]]], sample_rate: int, seed: int
) -> Iterator[Speech]:
    """Run each segment's synthesis in turn and yield what no later segment changes any more.

    The last part holds the tail, so that all samples concatenated are the one-shot result.
    """
    joiner = SegmentJoiner(sample_rate)
    position = 0
    for index, (text, speak) in enumerate(segments):
        timings = Timings()
        last = index == len(segments) - 1
        try:
            samples = joiner.push(speak(timings))
        except Stopped:
            samples, last = np.zeros(0, np.float32), True
        if last:
            samples = np.concatenate([samples, joiner.finish()])
        start, position = position, position + len(samples)
        segment = Segment(text, start / sample_rate, position / sample_rate)
        yield Speech(samples, sample_rate, (segment,), timings, seed)
        if last:
            return


def join_parts(parts: Iterable[Speech], sample_rate: int, seed: int) -> Speech:
    """One Speech of all parts of a stream."""
    timings = Timings()
    samples: list[Samples] = [np.zeros(0, np.float32)]
    segments: list[Segment] = []
    for part in parts:
        samples.append(part.samples)
        segments += part.segments
        for stage, seconds in part.timings.items():
            timings.add(stage, seconds)
    return Speech(np.concatenate(samples), sample_rate, tuple(segments), timings, seed)
