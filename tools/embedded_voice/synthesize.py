"""Lets one teacher read a part of the corpus: WAV files and lines of manifest.jsonl.

    python -m tools.embedded_voice.synthesize --data DIR --speaker heart --count 3000

Texts `--first` to `--first + count` of the corpus are read, so speakers may share text or not.
"""

import argparse
import fcntl
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from .corpus import phonemize, sentences
from .teachers import SAMPLE_RATE, Heart, Joe, Kokoro, Teacher, Utterance

CORPUS_SEED = 20
CORPUS_SIZE = 12000
MAX_TOKENS = 200
SPEEDS = {"heart": (0.92, 1.08), "joe": (0.92, 1.08)}
DERIVED_SPEEDS = (0.85, 1.1)


def teacher_of(speaker: str) -> Teacher:
    """ "joe", "kumo", "heart", or "heart_f050_w084": F0 times 0.50, formants times 0.84."""
    derived = re.fullmatch(r"heart_f(\d{3})_w(\d{3})", speaker)
    if derived:
        return Heart(int(derived[1]) / 100, int(derived[2]) / 100)
    return {"heart": Heart, "joe": Joe, "kumo": lambda: Kokoro({"jm_kumo": 1.0})}[speaker]()


def read_manifest(data: Path) -> list[dict[str, Any]]:
    with (data / "manifest.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _spoken(speaker: str, first: int, count: int) -> Iterator[tuple[int, str, str, Utterance]]:
    teacher = teacher_of(speaker)
    rng = np.random.default_rng(first)
    texts = sentences(CORPUS_SIZE, CORPUS_SEED)
    for number in range(first, first + count):
        phonemes = phonemize(texts[number])
        if 3 <= len(phonemes) <= MAX_TOKENS:
            speed = float(rng.uniform(*SPEEDS.get(speaker, DERIVED_SPEEDS)))
            yield number, texts[number], phonemes, teacher.speak(phonemes, speed)


def record(data: Path, speaker: str, first: int, count: int) -> float:
    """Writes the utterances of one speaker; returns the seconds of audio."""
    (data / speaker).mkdir(parents=True, exist_ok=True)
    seconds = 0.0
    with (data / "manifest.jsonl").open("a", encoding="utf-8") as manifest:
        for number, text, phonemes, utterance in _spoken(speaker, first, count):
            wav = f"{speaker}/{number:05d}.wav"
            peak = float(np.abs(utterance.samples).max())
            soundfile.write(data / wav, utterance.samples / max(peak, 1.0), SAMPLE_RATE)
            line = {
                "wav": wav,
                "speaker": speaker,
                "text": text,
                "phonemes": phonemes,
                "durations": [round(value, 3) for value in utterance.durations],
                "split": "valid" if number % 50 == 0 else "train",
            }
            # Several speakers are recorded at a time; a line must never be torn.
            fcntl.flock(manifest, fcntl.LOCK_EX)
            manifest.write(json.dumps(line, ensure_ascii=False) + "\n")
            manifest.flush()
            fcntl.flock(manifest, fcntl.LOCK_UN)
            seconds += len(utterance.samples) / SAMPLE_RATE
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--speaker", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, required=True)
    options = parser.parse_args()
    seconds = record(options.data, options.speaker, options.first, options.count)
    print(f"{options.speaker}: {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()
