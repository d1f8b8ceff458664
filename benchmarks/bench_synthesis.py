"""The embedded voice end to end: first audio, real-time factor, stages, a cold process."""

import statistics
import subprocess
import sys

import pytest

import twinvox

SENTENCE = "The small boat drifted quietly past the old stone bridge at dawn."
SEGMENT = "When the rain stopped, they walked along the river and talked about nothing much at all."


@pytest.fixture(scope="module", params=[1, 2], ids=lambda n: f"threads={n}")
def tts(request):
    return twinvox.load(threads=request.param)


@pytest.fixture(scope="module", params=["female", "male"])
def voice(request):
    return twinvox.Voice.load(request.param)


@pytest.mark.benchmark(group="first audio, 12 words")
def test_first_audio(benchmark, tts, voice):
    part = benchmark(lambda: next(iter(tts.stream(SENTENCE, voice))))
    _report(benchmark, part.seconds)


@pytest.mark.benchmark(group="one full segment")
def test_segment(benchmark, tts, voice):
    timings: dict[str, list[float]] = {}

    def speak():
        speech = tts.synthesize(SEGMENT, voice)
        for stage, seconds in speech.timings.items():
            timings.setdefault(stage, []).append(seconds)
        return speech

    speech = benchmark(speak)
    _report(benchmark, speech.seconds)
    benchmark.extra_info |= {
        f"{stage}_ms": round(statistics.median(values) * 1e3, 1)
        for stage, values in timings.items()
    }


@pytest.mark.benchmark(group="cold process to finished file")
def test_cold_process(benchmark, tmp_path):
    command = [sys.executable, "-m", "twinvox", "say", SENTENCE, "-o", str(tmp_path / "a.wav")]
    benchmark.pedantic(
        lambda: subprocess.run([*command, "--threads", "1"], check=True, capture_output=True),
        rounds=3,
        warmup_rounds=1,
    )


def _report(benchmark, audio_seconds):
    benchmark.extra_info["audio_s"] = round(audio_seconds, 2)
    if benchmark.stats:
        benchmark.extra_info["rtfx"] = round(audio_seconds / benchmark.stats.stats.median, 1)
