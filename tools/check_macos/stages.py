"""Each stage of a loaded folder on Core ML, beside the same stage on ONNX Runtime."""

import logging
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from twinvox.backends.luxtts.contract import COMPUTE_UNITS
from twinvox.backends.luxtts.folder import ModelFolder
from twinvox.backends.luxtts.synthesizer import LuxTTS
from twinvox.runtime.base import Array, Session, TensorSpec

DEFAULT_UNITS = COMPUTE_UNITS["gpu"]
SENTENCE = "The night train leaves at half past nine, so bring a warm coat and something to read."
ROUNDS = 10
# Of the reference's range: the bound of the suite in float32, and where errors become audible.
CPU_LIMIT, LIMIT = 2e-3, 2e-2

OpenReference = Callable[[Path], Session]
OpenCandidate = Callable[[Path, str], Session]


@dataclass(frozen=True)
class StageResult:
    """One output of one stage on one choice of compute units; ``error`` where it did not run.

    ``relative`` is the largest difference over the range of the reference; times are medians.
    ``backing`` says whether Core ML wrote into the buffer offered.
    """

    stage: str
    units: str
    output: str = ""
    max_abs: float = 0.0
    relative: float = 0.0
    backing: str = ""
    first_open_s: float = 0.0
    reopen_s: float = 0.0
    run_ms: float = 0.0
    bound_ms: float = 0.0
    reference_ms: float = 0.0
    error: str = ""

    @property
    def problem(self) -> str | None:
        """What is wrong, of the units that twinvox chooses itself and of the CPU alone."""
        where = f"{self.stage} on {self.units}"
        if self.error:
            return f"{where}: {self.error}"
        if self.units not in ("cpu_only", DEFAULT_UNITS[self.stage]):
            return None
        limit = CPU_LIMIT if self.units == "cpu_only" else LIMIT
        if self.relative <= limit:
            return None
        return f"{where}: {self.output} differs by {self.relative:.2g} of its range, over {limit}"


class Recorder:
    """A session that keeps a copy of the inputs of its last prediction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.seen: dict[str, Array] = {}

    @property
    def inputs(self) -> Mapping[str, TensorSpec]:
        return self._session.inputs

    @property
    def outputs(self) -> Mapping[str, TensorSpec]:
        return self._session.outputs

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        self._keep(inputs)
        return self._session.run(inputs)

    def bind(
        self, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
    ) -> Callable[[], Mapping[str, Array]]:
        predict = self._session.bind(inputs, outputs)

        def recorded() -> Mapping[str, Array]:
            self._keep(inputs)
            return predict()

        return recorded

    def _keep(self, inputs: Mapping[str, Array]) -> None:
        self.seen = {name: array.copy() for name, array in inputs.items()}


def compare_stages(
    folder: ModelFolder, reference: OpenReference, candidate: OpenCandidate, units: str
) -> Iterator[StageResult]:
    """Every stage on these units, on the inputs that a sentence gives it."""
    recorders: dict[Path, Recorder] = {}

    def record(path: Path) -> Session:
        return recorders.setdefault(path, Recorder(reference(path)))

    LuxTTS(folder, record).synthesize(SENTENCE)
    for path, stage in folder.stages.items():
        inputs = recorders[path].seen
        if not inputs:
            continue  # a bucket that the sentence did not need
        expected = recorders[path].run(inputs)
        reference_ms = _median_ms(lambda: recorders[path].run(inputs))  # noqa: B023
        try:
            yield from _compare(stage, path, units, candidate, inputs, expected, reference_ms)
        except Exception as error:
            yield StageResult(stage, units, error=f"{type(error).__name__}: {error}")


def _compare(
    stage: str,
    path: Path,
    units: str,
    candidate: OpenCandidate,
    inputs: Mapping[str, Array],
    expected: Mapping[str, Array],
    reference_ms: float,
) -> Iterator[StageResult]:
    start = time.perf_counter()
    session = candidate(path, units)
    opened = time.perf_counter()
    candidate(path, units)
    reopened = time.perf_counter()
    got = session.run(inputs)
    offered = {name: np.empty(array.shape, array.dtype) for name, array in expected.items()}
    predict = session.bind(inputs, offered)
    with _said() as said:
        bound = predict()
    for name, array in expected.items():
        want = _active(array, inputs)
        difference = max(
            float(np.abs(_active(result[name], inputs) - want).max()) for result in (got, bound)
        )
        yield StageResult(
            stage,
            units,
            name,
            difference,
            difference / float(np.ptp(want)),
            "used" if bound[name] is offered[name] else ": ".join(["declined", *said]),
            opened - start,
            reopened - opened,
            _median_ms(lambda: session.run(inputs)),
            _median_ms(predict),
            reference_ms,
        )


def _active(array: Array, inputs: Mapping[str, Array]) -> Array:
    """The rows that the padding mask leaves, in double precision."""
    mask = inputs.get("padding_mask")
    wide = array.astype(np.float64)
    return wide if mask is None else wide[:, mask[0] == 0]


def _median_ms(call: Callable[[], object]) -> float:
    call()
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds) * 1e3


@contextmanager
def _said() -> Iterator[list[str]]:
    """What twinvox logs meanwhile."""
    messages: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    logger, keep = logging.getLogger("twinvox"), Keep()
    level = logger.level
    logger.addHandler(keep)
    logger.setLevel(logging.INFO)
    try:
        yield messages
    finally:
        logger.removeHandler(keep)
        logger.setLevel(level)
