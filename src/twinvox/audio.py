"""Reading prompt audio, measuring its edge silence, joining segments, writing WAV."""

import io
from os import PathLike
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from twinvox.errors import PromptError, TwinvoxError

Samples = npt.NDArray[np.float32]
AudioSource = str | PathLike[str] | BinaryIO | tuple[npt.ArrayLike, int]

MIN_SAMPLE_RATE = 8_000
MAX_SAMPLE_RATE = 192_000
MAX_CHANNELS = 8
MAX_PEAK = 100.0  # full scale 1.0; a loud mix of floats may exceed that, integers exceed this
CROSS_FADE_SECONDS = 0.008

_LEVEL_WINDOW_SECONDS = 0.01
_SMOOTHED = 3  # windows


def read_audio(source: AudioSource, sample_rate: int) -> Samples:
    """Read audio as mono float32 [n] at ``sample_rate`` Hz.

    ``source`` is a file that libsndfile reads (path or open binary file; 8 to 192 kHz, up to 8
    channels), or a pair of samples ([n] or [n, channels], full scale 1.0) and their rate in Hz.
    Raises PromptError for anything unreadable, empty, not finite, or on the scale of integers.
    """
    samples, rate = _decode(source)
    if not MIN_SAMPLE_RATE <= rate <= MAX_SAMPLE_RATE:
        raise PromptError(
            f"audio has a sample rate of {rate} Hz; expected {MIN_SAMPLE_RATE} to "
            f"{MAX_SAMPLE_RATE} Hz"
        )
    if samples.ndim != 2 or samples.shape[1] > MAX_CHANNELS:
        raise PromptError(
            f"audio has shape {samples.shape}; expected [samples] or [samples, channels] with at "
            f"most {MAX_CHANNELS} channels"
        )
    if samples.shape[0] == 0:
        raise PromptError("audio is empty; record a few seconds of clear speech")
    if not np.isfinite(samples).all():
        raise PromptError("audio holds NaN or infinite samples; export it again as PCM or float")
    peak = float(np.abs(samples).max())
    if peak > MAX_PEAK:
        raise PromptError(
            f"audio peaks at {peak:.3g}; expected full scale 1.0 (divide PCM16 by 32768)"
        )
    mono: Samples = samples.mean(axis=1, dtype=np.float32)
    if rate != sample_rate:
        mono = soxr.resample(mono, rate, sample_rate, quality="VHQ")
    return mono


def _decode(source: AudioSource) -> tuple[npt.NDArray[np.float32], int]:
    if isinstance(source, tuple):
        samples, rate = source
        data = np.asarray(samples)
        if data.dtype.kind != "f":
            raise PromptError(
                f"audio samples are {data.dtype}; expected floats with full scale 1.0 "
                "(divide PCM16 by 32768)"
            )
        with np.errstate(over="ignore"):  # to infinity, which is refused as such
            return np.atleast_2d(data.astype(np.float32).T).T, int(rate)
    name = source if isinstance(source, str | PathLike) else getattr(source, "name", "audio")
    if isinstance(source, str | PathLike) and not Path(source).is_file():
        raise PromptError(f"no audio file at {source}")
    try:
        data, rate = soundfile.read(source, dtype="float32", always_2d=True)
    except soundfile.SoundFileError as error:
        raise PromptError(f"cannot read {name} as audio: {error}") from error
    return data, rate


def edge_silence(samples: Samples, sample_rate: int) -> tuple[float, float]:
    """Seconds of silence before the first and after the last speech.

    The border lies a third of the way, in decibels, from the quiet passages (5th percentile of the
    RMS in 10 ms windows, smoothed over three) to the loud ones (95th), but 20 to 40 dB under these
    and not under -60 dBFS. All-silent audio counts as leading silence.
    """
    window = int(_LEVEL_WINDOW_SECONDS * sample_rate)
    whole = len(samples) // window
    if whole < _SMOOTHED:
        return 0.0, 0.0
    power = np.mean(samples[: whole * window].reshape(whole, window) ** 2, axis=1)
    power = np.convolve(np.pad(power, 1, mode="edge"), np.full(_SMOOTHED, 1 / _SMOOTHED), "valid")
    level = 10 * np.log10(np.maximum(power, 1e-12))
    quiet, loud = np.percentile(level, [5, 95])
    border = np.clip(quiet + (loud - quiet) / 3, loud - 40, loud - 20)
    speech = np.flatnonzero(level >= max(border, -60.0))
    total = len(samples) / sample_rate
    if speech.size == 0:
        return total, 0.0
    lead, end = speech[0] * window / sample_rate, (speech[-1] + 1) * window / sample_rate
    return float(lead), float(total - end)


class SegmentJoiner:
    """Joins the segments of one text with a cosine cross-fade of 8 ms.

    ``push`` returns the samples that no later segment can change any more; the last 8 ms stay back
    until the next ``push`` or ``finish``. So the parts of a stream concatenate to exactly the
    samples of the one-shot result. The fade shrinks to half of the shorter side.
    """

    def __init__(self, sample_rate: int) -> None:
        self._fade = round(CROSS_FADE_SECONDS * sample_rate)
        self._held: Samples = np.zeros(0, np.float32)

    def push(self, segment: Samples) -> Samples:
        fade = min(self._fade, len(self._held), len(segment) // 2)
        rise = (1 - np.cos(np.pi * (np.arange(fade) + 0.5) / fade)) / 2 if fade else np.zeros(0)
        rise = rise.astype(np.float32)
        kept = len(self._held) - fade
        crossed = self._held[kept:] * (1 - rise) + segment[:fade] * rise
        joined = np.concatenate([self._held[:kept], crossed, segment[fade:]])
        hold = min(self._fade, len(segment) // 2)
        self._held = joined[len(joined) - hold :]
        return joined[: len(joined) - hold]

    def finish(self) -> Samples:
        held, self._held = self._held, np.zeros(0, np.float32)
        return held


def write_wav(target: str | PathLike[str] | BinaryIO, samples: Samples, sample_rate: int) -> None:
    """Write mono 16-bit PCM WAV to a path or an open binary file (which need not seek)."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, sample_rate, format="WAV", subtype="PCM_16")
    try:
        if isinstance(target, str | PathLike):
            Path(target).write_bytes(buffer.getbuffer())
        else:
            target.write(buffer.getbuffer())
    except OSError as error:
        name = getattr(target, "name", target)
        raise TwinvoxError(f"cannot write {name}: {error.strerror or error}") from error
