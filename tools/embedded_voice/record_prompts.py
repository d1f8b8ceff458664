"""Records the two shipped prompts and one prompt per voice for the pitch-following test.

    python -m tools.embedded_voice.record_prompts DIR

Writes DIR/{female,male}.wav and DIR/f0/*.wav with their transcripts. A prompt has no edge silence
and about 5.8 frames per token: the host carries that pace over to everything it says.
"""

import argparse
from pathlib import Path

import numpy as np
import soundfile

from .corpus import phonemize
from .synthesize import teacher_of
from .teachers import HOP_LENGTH, SAMPLE_RATE

SHIPPED = {
    "female": ("heart", "The garden was quiet in the evening.", 0.77),
    "male": ("heart_f050_w084", "We followed the path down to the lake.", 0.72),
}
PITCH_TEXTS = (
    "The kettle is on, so please sit down.",
    "They sold the blue car last summer.",
    "Nobody told me about the new garden.",
    "Our train will leave in ten minutes.",
)
PITCH_SPEED = 0.75
# The last two are voices that no model was trained on.
PITCH_VOICES = [
    "heart",
    "joe",
    "kumo",
    "heart_f050_w084",
    "heart_f056_w088",
    "heart_f064_w090",
    "heart_f074_w093",
    "heart_f085_w096",
    "heart_f112_w103",
    "heart_f125_w106",
    "heart_f140_w110",
    "heart_f046_w080",
    "heart_f070_w095",
    "heart_f095_w092",
]
QUIET_DB = -38.0


def without_edges(samples: np.ndarray) -> np.ndarray:
    """Cuts what lies 38 dB under the loud level at both ends, but for one frame (11 ms)."""
    blocks = samples[: len(samples) // HOP_LENGTH * HOP_LENGTH].reshape(-1, HOP_LENGTH)
    power = np.mean(np.square(blocks, dtype=np.float64), axis=1)
    loud = np.flatnonzero(power > np.quantile(power, 0.95) * 10 ** (QUIET_DB / 10))
    return samples[max(loud[0] - 1, 0) * HOP_LENGTH : (loud[-1] + 2) * HOP_LENGTH]


def record(speaker: str, text: str, speed: float, path: Path) -> None:
    samples = without_edges(teacher_of(speaker).speak(phonemize(text), speed).samples)
    samples = samples * (0.1 / np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
    samples = samples / max(1.0, float(np.abs(samples).max()) / 0.99)
    soundfile.write(path, samples, SAMPLE_RATE)
    path.with_suffix(".txt").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    (out / "f0").mkdir(parents=True, exist_ok=True)
    for name, (speaker, text, speed) in SHIPPED.items():
        record(speaker, text, speed, out / f"{name}.wav")
    for number, speaker in enumerate(PITCH_VOICES):
        text = PITCH_TEXTS[number % len(PITCH_TEXTS)]
        record(speaker, text, PITCH_SPEED, out / "f0" / f"{number:02d}_{speaker}.wav")


if __name__ == "__main__":
    main()
