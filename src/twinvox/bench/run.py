"""Speak a corpus and time it, then have it transcribed."""

import os
import platform
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from twinvox.asr import SAMPLE_RATE, Transcriber
from twinvox.audio import read_audio
from twinvox.backends.base import VoiceSource, join_parts
from twinvox.bench.corpora import Corpus, Phrase
from twinvox.bench.result import PhraseResult, Recogniser, Report, Setting, Start, speed
from twinvox.bench.score import error_rates, language_of
from twinvox.errors import TwinvoxError
from twinvox.speech import Speech

ShowProgress = Callable[[Iterable[Any], str], Iterable[Any]]


class Model(Protocol):
    """A loaded backend."""

    def stream(self, text: str, voice: VoiceSource, **options: Any) -> Iterator[Speech]: ...


class Scorer:
    """Loads the recogniser called ``name`` once all is spoken, so that neither disturbs the other.

    Without ``load`` nothing is transcribed, for the reason ``skip_reason``.
    """

    def __init__(
        self,
        name: str | None = None,
        load: Callable[[], Transcriber] | None = None,
        skip_reason: str | None = None,
    ) -> None:
        self.load = load
        self.recogniser = Recogniser(load is None, name, skip_reason)


class _Timed:
    """A phrase as it was spoken, with its times in milliseconds."""

    def __init__(
        self, model: Model, text: str, voice: VoiceSource, options: dict[str, Any]
    ) -> None:
        start = time.perf_counter()
        self.ttft_ms = 0.0
        parts = []
        for part in model.stream(text, voice, **options):
            parts.append(part)
            if not self.ttft_ms and len(part.samples):
                self.ttft_ms = _ms(time.perf_counter() - start)
        self.synth_ms = _ms(time.perf_counter() - start)
        self.speech = join_parts(parts, parts[0].sample_rate, parts[0].seed)


def run_benchmark(
    load: Callable[[], Model],
    make_voice: Callable[[Model], VoiceSource],
    corpus: Corpus,
    setting: Setting,
    *,
    options: dict[str, Any],
    scorer: Scorer,
    audio_dir: Path | None,
    show: ShowProgress,
) -> Report:
    """Load the model, speak every phrase once after a first one for warming up, and score it.

    ``options`` go to the model's ``stream``. The speech stays in ``audio_dir`` as WAV files. A
    phrase that cannot be spoken is reported in its row; where that is so for all, the first's error
    is raised.
    """
    start = time.perf_counter()
    model = load()
    cold_start_s = round(time.perf_counter() - start, 4)
    voice = make_voice(model)
    first_synth_ms = _warm_up(model, corpus, voice, options)
    with ExitStack() as stack:
        folder = audio_dir or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for index, phrase in enumerate(show(corpus.phrases, "speaking"), 1):
            rows.append(_speak(model, index, phrase, voice, options, folder))
        memory = peak_rss_mb()
        recogniser = _listen(rows, scorer, show)
        if audio_dir is None:
            for row in rows:
                row.wav_path = ""
    return Report(setting, Start(cold_start_s, first_synth_ms), memory, recogniser, rows)


def _warm_up(model: Model, corpus: Corpus, voice: VoiceSource, options: dict[str, Any]) -> float:
    """Milliseconds of the first synthesis that works."""
    failure: TwinvoxError | None = None
    for phrase in corpus.phrases:
        try:
            return _Timed(model, phrase.text, voice, options).synth_ms
        except TwinvoxError as error:
            failure = failure or error
    raise failure or TwinvoxError(f"the corpus {corpus.name} is empty")


def _speak(
    model: Model,
    index: int,
    phrase: Phrase,
    voice: VoiceSource,
    options: dict[str, Any],
    folder: Path,
) -> PhraseResult:
    row = PhraseResult(index, phrase.category, phrase.text)
    try:
        timed = _Timed(model, phrase.text, voice, options)
    except TwinvoxError as error:
        row.error = str(error)
        return row
    speech, path = timed.speech, folder / f"{index:03d}.wav"
    speech.save(path)
    row.wav_path = str(path)
    row.ttft_ms, row.synth_ms = timed.ttft_ms, timed.synth_ms
    row.audio_ms = _ms(speech.seconds)
    row.rtfx = speed([row])
    row.stage_ms = {stage: _ms(seconds) for stage, seconds in speech.timings.items()}
    row.finished_on_eos = speech.finished_on_eos
    row.generated_token_count = row.decoded_token_count = speech.generated_token_count
    return row


def _listen(rows: list[PhraseResult], scorer: Scorer, show: ShowProgress) -> Recogniser:
    """Score what was spoken. A recogniser that fails does not cost the other figures."""
    if scorer.load is None:
        return scorer.recogniser
    try:
        listener = scorer.load()
        for row in show([row for row in rows if row.error is None], "listening"):
            _score(row, listener)
    except (TwinvoxError, ValueError, RuntimeError) as error:
        for row in rows:  # rates of some phrases would pass for those of all
            row.hypothesis = row.wer = row.cer = row.asr_ms = None
        warnings.warn(f"the speech is not scored: {error}", UserWarning, stacklevel=3)
        return Recogniser(True, None, str(error))
    return scorer.recogniser


def _score(row: PhraseResult, listener: Transcriber) -> None:
    samples = read_audio(row.wav_path, SAMPLE_RATE)
    start = time.perf_counter()
    heard = listener.transcribe(samples, SAMPLE_RATE, language=language_of(row.reference))
    row.asr_ms = _ms(time.perf_counter() - start)
    row.hypothesis = heard.text
    wer, cer = error_rates(row.reference, heard.text)
    row.wer, row.cer = round(wer, 5), round(cer, 5)


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 3)


def peak_rss_mb() -> float:
    """The most memory this process has had, in MiB."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        import resource

        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)  # macOS: bytes
    # Not ru_maxrss, which a process on Linux takes over from the one that started it.
    (kibibytes,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return round(int(kibibytes) / 1024, 1)


def machine() -> str:
    """Processor, number of CPUs and system."""
    return f"{_processor()}, {os.cpu_count()} CPUs, {platform.system()} {platform.machine()}"


def _processor() -> str:
    try:
        if platform.system() == "Darwin":
            command = ["sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(
                command, capture_output=True, text=True, check=True
            ).stdout.strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except (OSError, subprocess.CalledProcessError):
        pass
    return platform.processor() or "unknown processor"
