"""The figures of a benchmark, with the names and units of FluidAudio's harness.

Times are milliseconds of wall time but for ``cold_start_s``; rates of error are fractions; ``rtfx``
is audio time by synthesis time. What was not measured is None.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from twinvox.errors import ModelFormatError, TwinvoxError


@dataclass(slots=True)
class PhraseResult:
    """One phrase. ``ttft_ms`` is the time to the first part of the stream, ``synth_ms`` to its end.

    ``error`` is why the phrase could not be spoken; its figures are then missing.
    """

    index: int
    category: str
    reference: str
    hypothesis: str | None = None
    ttft_ms: float | None = None
    synth_ms: float | None = None
    audio_ms: float | None = None
    rtfx: float | None = None
    wer: float | None = None
    cer: float | None = None
    asr_ms: float | None = None
    stage_ms: dict[str, float] | None = None
    wav_path: str = ""
    generated_token_count: int | None = None
    decoded_token_count: int | None = None
    finished_on_eos: bool | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """The phrases of a category; the error rates are means over its phrases."""

    category: str
    phrase_count: int
    macro_wer: float | None
    macro_cer: float | None
    synth_ms_p50: float | None
    synth_ms_p95: float | None
    rtfx: float | None


@dataclass(frozen=True, slots=True)
class Setting:
    """What was measured, and where."""

    backend: str
    corpus: str
    corpus_source: str
    voice: str
    seed: int
    runtime: str
    compute_units: str
    precision: str
    threads: int
    machine: str
    version: str


@dataclass(frozen=True, slots=True)
class Recogniser:
    """What heard the phrases; ``asr_skip_reason`` is why nothing did."""

    asr_skipped: bool
    asr_backend: str | None
    asr_skip_reason: str | None


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds to load the models, milliseconds of the first synthesis after that."""

    cold_start_s: float
    first_synth_ms: float


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run."""

    setting: Setting
    start: Start
    peak_rss_mb: float
    recogniser: Recogniser
    phrases: Sequence[PhraseResult]

    @property
    def spoken(self) -> list[PhraseResult]:
        """The phrases that could be spoken."""
        return [row for row in self.phrases if row.error is None]

    def categories(self) -> list[CategoryResult]:
        names = dict.fromkeys(row.category for row in self.phrases)
        rows = {name: [row for row in self.spoken if row.category == name] for name in names}
        return [
            CategoryResult(
                name,
                sum(row.category == name for row in self.phrases),
                mean(row.wer for row in spoken),
                mean(row.cer for row in spoken),
                percentile((row.synth_ms for row in spoken), 50),
                percentile((row.synth_ms for row in spoken), 95),
                speed(spoken),
            )
            for name, spoken in rows.items()
        ]

    def to_json(self) -> dict[str, Any]:
        """One object: summary, categories, phrases."""
        spoken = self.spoken
        summary = {
            **asdict(self.setting),
            "phrase_count": len(self.phrases),
            "failed_count": len(self.phrases) - len(spoken),
            **asdict(self.start),
            "ttft_ms_p50": percentile((row.ttft_ms for row in spoken), 50),
            "ttft_ms_p95": percentile((row.ttft_ms for row in spoken), 95),
            "warm_synth_ms_p50": percentile((row.synth_ms for row in spoken), 50),
            "warm_synth_ms_p95": percentile((row.synth_ms for row in spoken), 95),
            "agg_rtfx": speed(spoken),
            "peak_rss_mb": self.peak_rss_mb,
            "macro_wer": mean(row.wer for row in spoken),
            "macro_cer": mean(row.cer for row in spoken),
            **asdict(self.recogniser),
        }
        return {
            "summary": summary,
            "categories": [asdict(row) for row in self.categories()],
            "phrases": [asdict(row) for row in self.phrases],
        }


def percentile(values: Iterable[float | None], percent: float) -> float | None:
    """The value of the nearest rank, as FluidAudio takes it; None where there is none."""
    known = sorted(value for value in values if value is not None)
    return known[math.floor((len(known) - 1) * percent / 100 + 0.5)] if known else None


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 5) if known else None


def speed(rows: Sequence[PhraseResult]) -> float | None:
    """All audio by all synthesis time; None where there is none."""
    synthesis = sum(row.synth_ms or 0.0 for row in rows)
    return round(sum(row.audio_ms or 0.0 for row in rows) / synthesis, 3) if synthesis else None


def read_json(path: Path) -> dict[str, Any]:
    """A report written by ``twinvox bench --output-json``.

    Raises TwinvoxError where it cannot be read, ModelFormatError where it is something else.
    """
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise TwinvoxError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ModelFormatError(f"{path} is not JSON: {error}") from error
    if not _is_report(content):
        raise ModelFormatError(
            f"{path} is no benchmark: it has no summary, categories and phrases; give a file that "
            "twinvox bench --output-json wrote"
        )
    return dict(content)


def _is_report(content: Any) -> bool:
    """Whether a comparison finds in ``content`` what it looks for."""
    try:
        rows = [row["category"] for row in content["categories"]]
        rows += [row["reference"] for row in content["phrases"]]
        return isinstance(content["summary"], dict) and all(isinstance(row, str) for row in rows)
    except (KeyError, TypeError):
        return False
