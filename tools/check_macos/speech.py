"""Whole sentences on Core ML, beside the same seed on ONNX Runtime."""

import statistics
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from stages import DEFAULT_UNITS, SENTENCE, OpenCandidate, OpenReference

from twinvox.backends.luxtts.folder import ModelFolder
from twinvox.backends.luxtts.synthesizer import LuxTTS
from twinvox.runtime.base import Session
from twinvox.runtime.compute_units import UNITS
from twinvox.speech import Speech

ROUNDS = 5
ONNX, DEFAULT = "onnx", "as twinvox chooses"
CHOICES = (ONNX, DEFAULT, *UNITS)
MIN_SNR_DB = 20.0

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SpeechResult:
    """One choice of compute units, medians; ``error`` where it did not speak.

    ``snr_db`` is the power of ONNX Runtime's samples over that of the difference, None where there
    is none.
    """

    units: str
    seconds: float = 0.0
    first_audio_ms: float = 0.0
    rtfx: float = 0.0
    snr_db: float | None = None
    stages_ms: dict[str, float] = field(default_factory=dict)
    error: str = ""

    @property
    def problem(self) -> str | None:
        if self.error:
            return f"speech on {self.units}: {self.error}"
        if self.snr_db is None or self.units not in (DEFAULT, "cpu_only"):
            return None
        if self.snr_db >= MIN_SNR_DB:
            return None
        return f"speech on {self.units}: {self.snr_db:.1f} dB, expected {MIN_SNR_DB:.0f}"


def compare_speech(
    folder: ModelFolder, reference: OpenReference, candidate: OpenCandidate, units: str
) -> SpeechResult:
    """A sentence with one of CHOICES, beside ONNX Runtime's."""
    expected = LuxTTS(folder, reference).synthesize(SENTENCE).samples
    if units == ONNX:
        return _measure(units, LuxTTS(folder, reference), expected)
    try:
        tts = LuxTTS(folder, partial(_open, folder, candidate, units))
        return _measure(units, tts, expected)
    except Exception as error:
        return SpeechResult(units, error=f"{type(error).__name__}: {error}")


def _open(folder: ModelFolder, candidate: OpenCandidate, units: str, path: Path) -> Session:
    return candidate(path, DEFAULT_UNITS[folder.stages[path]] if units == DEFAULT else units)


def _measure(units: str, tts: LuxTTS, expected: Samples) -> SpeechResult:
    tts.synthesize(SENTENCE)
    first, spent = [], []
    speeches: list[Speech] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        next(iter(tts.stream(SENTENCE)))
        first.append(time.perf_counter() - start)
        start = time.perf_counter()
        speeches.append(tts.synthesize(SENTENCE))
        spent.append(time.perf_counter() - start)
    speech = speeches[-1]
    stages = {
        name: statistics.median(each.timings[name] for each in speeches) * 1e3
        for name in speech.timings
    }
    return SpeechResult(
        units,
        speech.seconds,
        statistics.median(first) * 1e3,
        speech.seconds / statistics.median(spent),
        _snr_db(speech.samples, expected),
        stages,
    )


def _snr_db(got: Samples, want: Samples) -> float | None:
    if got.shape != want.shape:
        raise ValueError(f"{len(got)} samples; ONNX Runtime gives {len(want)}")
    noise = float(np.square(got.astype(np.float64) - want).sum())
    return 10 * float(np.log10(np.square(want, dtype=np.float64).sum() / noise)) if noise else None
