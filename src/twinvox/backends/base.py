"""What every backend shares: a stream of segments, and the one-shot synthesis as its join."""

import atexit
import inspect
import operator
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from queue import SimpleQueue
from typing import SupportsIndex, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from twinvox.audio import Samples, SegmentJoiner
from twinvox.errors import TextError
from twinvox.runtime import RuntimeOptions, choose_runtime, open_session
from twinvox.runtime.base import ModelContract, Session, check_contract
from twinvox.runtime.compute_units import stage_units
from twinvox.speech import Segment, Speech
from twinvox.voice import Voice

DEFAULT_SEED = 42
DEFAULT_VOICE = "female"

ProgressCallback = Callable[[int, int, str], bool | None]
OpenModel = Callable[[Path], Session]
VoiceSource = Voice | str | PathLike[str] | None
Ids = npt.NDArray[np.int32]
_Result = TypeVar("_Result")
_INT8_STAGES = ("decode", "flow")


def stage_opener(
    stages: Mapping[Path, str], default_units: Mapping[str, str], **options: Unpack[RuntimeOptions]
) -> OpenModel:
    """``open_session`` for the models of one backend, as ``twinvox.load`` is told to.

    ``stages`` is the stage of each model, ``default_units`` the compute unit of each stage, which
    ``options`` override; see ``stage_units``. What runs once a segment keeps its precision: text
    encoder, prefill, whose errors decode would read at every step, and vocoder.
    """
    runtime, threads = options.get("runtime", "auto"), options.get("threads")
    compute_units, precision = options.get("compute_units"), options.get("precision", "fp32")
    units: Mapping[str, str] = {}
    if compute_units is not None or choose_runtime(runtime)[0] == "coreml":
        units = stage_units(default_units, compute_units)

    def open_model(path: Path) -> Session:
        stage = stages[path]
        return open_session(
            path,
            runtime=runtime,
            threads=threads,
            compute_units=units.get(stage),
            precision=precision if stage in _INT8_STAGES else "fp32",
        )

    return open_model


def open_checked(open_model: OpenModel, path: Path, expected: ModelContract) -> Session:
    """The model at ``path``, which declares what is expected. Raises ContractError."""
    session = open_model(path)
    check_contract(session, expected)
    return session


class Stopped(Exception):
    """The progress callback asked to stop."""


class Progress:
    """Counts finished steps, and raises Stopped once the callback returns False.

    Threads may share one; the callback is called by one at a time.
    """

    def __init__(self, total: int, callback: ProgressCallback | None) -> None:
        self._done = 0
        self._total = total
        self._callback = callback
        self._stopped = False
        self._lock = threading.Lock()

    def step(self, stage: str) -> None:
        """One more step is done."""
        self._report(stage, 1)

    def poll(self, stage: str) -> None:
        """A step is still going on."""
        self._report(stage, 0)

    def stop(self) -> None:
        """Make every further step raise Stopped."""
        self._stopped = True

    def _report(self, stage: str, steps: int) -> None:
        with self._lock:
            self._done += steps
            if (
                not self._stopped
                and self._callback
                and self._callback(self._done, self._total, stage) is False
            ):
                self._stopped = True
            if self._stopped:
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


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line that called this package: ``stream``, or ``synthesize``, or ``next``."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").startswith("twinvox."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def check_seed(seed: SupportsIndex) -> int:
    """The seed as an int; TypeError for what is no whole number, ValueError beyond 64 bits."""
    try:
        whole = operator.index(seed)
    except TypeError:
        raise TypeError(f"seed is {seed!r}; expected a whole number") from None
    if not 0 <= whole < 2**64:
        raise ValueError(f"seed is {seed}; expected 0 to 2**64 - 1")
    return whole


def resolve_voice(voice: VoiceSource) -> Voice:
    """A voice as given, or loaded by path or shipped name; None is the default shipped voice."""
    if isinstance(voice, Voice):
        return voice
    return Voice.load(DEFAULT_VOICE if voice is None else voice)


def check_token_ids(token_ids: Sequence[int], n_known: int) -> Ids:
    """The ids as int32 [n]; TextError where there is none, TypeError or ValueError for bad ones."""
    ids = np.asarray(token_ids)
    if not ids.size:
        raise TextError("token_ids is empty; give at least one token")
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise TypeError(f"token_ids are {ids.dtype} {ids.shape}; expected a list of integers")
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= n_known:
        raise ValueError(f"token_ids run from {low} to {high}; the model knows 0 to {n_known - 1}")
    return ids.astype(np.int32)


@dataclass(frozen=True, slots=True)
class Spoken:
    """One segment's samples [n] and, of backends that decode them, its speech tokens."""

    samples: Samples
    decoded_tokens: Ids | None = None
    finished_on_eos: bool | None = None


def one_ahead(
    tasks: Sequence[Callable[[], _Result]], stop: Callable[[], None]
) -> Generator[_Result]:
    """The results of ``tasks`` in order, each task running while the caller uses the last result.

    They run in one thread. What a task raises is raised where its result would be. Closing calls
    ``stop``, upon which a running task should raise soon, and waits for it; so does the end of the
    process.
    """
    waiting: SimpleQueue[tuple[Future[_Result], Callable[[], _Result]] | None] = SimpleQueue()
    # A daemon, as the interpreter waits for all others before it calls what is registered below.
    worker = threading.Thread(target=_work, args=(waiting,), name="twinvox", daemon=True)

    def submit(task: Callable[[], _Result]) -> Future[_Result]:
        future: Future[_Result] = Future()
        waiting.put((future, task))
        return future

    def end() -> None:
        stop()
        waiting.put(None)
        if threading.current_thread() is not worker:  # as where a task itself closes
            worker.join()

    worker.start()
    atexit.register(end)
    try:
        running = submit(tasks[0])
        for task in tasks[1:]:
            result = running.result()
            running = submit(task)
            yield result
        yield running.result()
    finally:
        atexit.unregister(end)
        end()


def _work(waiting: "SimpleQueue[tuple[Future[_Result], Callable[[], _Result]] | None]") -> None:
    for future, task in iter(waiting.get, None):
        try:
            future.set_result(task())
        except BaseException as error:
            future.set_exception(error)
        del future, task  # a failed future's traceback holds this frame


def join_segments(
    segments: Sequence[tuple[str, Callable[[Timings], Spoken]]], sample_rate: int, seed: int
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
            spoken = speak(timings)
            samples = joiner.push(spoken.samples)
        except Stopped:  # what follows is the tail of what was spoken before
            text, samples, last = "", np.zeros(0, np.float32), True
            spoken = Spoken(samples)
        if last:
            samples = np.concatenate([samples, joiner.finish()])
        start, position = position, position + len(samples)
        segment = Segment(text, start / sample_rate, position / sample_rate)
        yield Speech(
            samples,
            sample_rate,
            (segment,),
            timings,
            seed,
            spoken.finished_on_eos,
            spoken.decoded_tokens,
        )
        if last:
            return


def join_parts(parts: Iterable[Speech], sample_rate: int, seed: int) -> Speech:
    """One Speech of all parts of a stream."""
    timings = Timings()
    samples: list[Samples] = [np.zeros(0, np.float32)]
    segments: list[Segment] = []
    tokens: list[Ids] = []
    finished: list[bool | None] = []
    for part in parts:
        samples.append(part.samples)
        segments += part.segments
        finished.append(part.finished_on_eos)
        if part.decoded_tokens is not None:
            tokens.append(part.decoded_tokens)
        for stage, seconds in part.timings.items():
            timings.add(stage, seconds)
    return Speech(
        np.concatenate(samples),
        sample_rate,
        tuple(segments),
        timings,
        seed,
        None if set(finished) == {None} else all(finished),
        np.concatenate(tokens) if tokens else None,
    )
