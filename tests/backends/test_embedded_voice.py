"""The voice inside the package: its models against torch's recorded outputs, and how it speaks."""

import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import twinvox
from tests.backends.conftest import buzz
from tests.mil.text_printer import compile_folder
from twinvox.backends import base
from twinvox.runtime import open_session
from twinvox.voice import shipped_voices

DATA = Path(str(resources.files("twinvox"))) / "data"
TEXT = "The small boat drifted quietly past the old stone bridge at dawn."


@pytest.fixture(scope="module")
def tts():
    return twinvox.load(threads=1)


@pytest.mark.parametrize(
    ("model", "inputs", "output"),
    [
        (
            "gpu/TextEncoder",
            {"tokens": "tokens", "padding_mask": "token_padding_mask"},
            "token_embeds",
        ),
        (
            "gpu/FmDecoder",
            {
                name: name
                for name in (
                    "x", "text_condition", "speech_condition", "t", "guidance_scale",
                    "padding_mask",
                )
            },
            "v",
        ),
        ("vocoder/Vocoder", {"mel": "mel"}, "audio"),
    ],
)  # fmt: skip
def test_outputs_equal_the_training_framework(embedded_reference, model, inputs, output):
    session = open_session(DATA / "embedded" / f"{model}.mlpackage", threads=1)
    got = session.run({name: embedded_reference[key] for name, key in inputs.items()})[output]
    want = embedded_reference[output]
    if output == "v":  # what lies beyond the frames is not used
        active = embedded_reference["padding_mask"][0] == 0
        got, want = got[:, active], want[:, active]
    assert np.abs(got - want).max() <= 2e-3 * np.ptp(want)


def test_models_and_voices_fit_in_12_megabytes():
    size = sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file())
    assert 5e6 < size <= 12e6


def test_the_shipped_voices_differ_and_are_named(tts):
    assert shipped_voices() == ("female", "male")
    female, male = (tts.synthesize(TEXT, name) for name in shipped_voices())
    for speech in (female, male):
        assert 2.5 < speech.seconds < 6
        assert 0.02 < np.std(speech.samples) < 0.4
    assert pitch(male.samples) < 140 < pitch(female.samples)
    np.testing.assert_array_equal(tts.synthesize(TEXT).samples, female.samples)


def pitch(samples, rate=48_000):
    """Median F0 in Hz of the voiced 40 ms frames, by autocorrelation."""
    found = []
    for start in range(0, len(samples) - 1920, 960):
        frame = samples[start : start + 1920]
        if np.std(frame) < 0.03:
            continue
        frame = frame - frame.mean()
        spectrum = np.abs(np.fft.rfft(frame, 4096)) ** 2
        autocorrelation = np.fft.irfft(spectrum)[: rate // 60]
        lag = rate // 400 + int(np.argmax(autocorrelation[rate // 400 :]))
        if autocorrelation[lag] > 0.5 * autocorrelation[0]:
            found.append(rate / lag)
    return float(np.median(found))


def test_no_model_lists_shapes():
    """On the CPU alone Core ML of macOS 27 ends a process that runs a model of several shapes."""
    for package in (DATA / "embedded").rglob("*.mlpackage"):
        inputs = open_session(package, runtime="onnx", threads=1).inputs.values()
        assert not any(spec.shapes for spec in inputs), package


def test_speed_shortens_the_speech(tts):
    slow, normal, fast = (tts.synthesize(TEXT, speed=s).seconds for s in (0.7, 1.0, 1.4))
    assert slow / normal == pytest.approx(1 / 0.7, rel=0.02)
    assert fast / normal == pytest.approx(1 / 1.4, rel=0.02)


def test_a_fresh_process_gives_the_same_samples(tts, tmp_path):
    program = (
        "import twinvox, numpy; numpy.save('a.npy', "
        f"twinvox.load(runtime='onnx', threads=1).synthesize({TEXT!r}, 'male', seed=9).samples)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    want = tts.synthesize(TEXT, "male", seed=9).samples
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), want)


def test_compiled_models_give_the_same_samples(tts, tmp_path):
    compiled = compile_folder(DATA / "embedded", tmp_path / "luxtts")
    ours = twinvox.load("luxtts", models_dir=compiled, threads=1)
    voice = twinvox.Voice.load(DATA / "voices" / "male.safetensors")
    want = tts.synthesize(TEXT, "male", seed=9).samples
    np.testing.assert_array_equal(ours.synthesize(TEXT, voice, seed=9).samples, want)


def test_two_threads_in_a_model_run_give_the_same_samples(tts):
    want = tts.synthesize(TEXT, seed=9).samples
    np.testing.assert_array_equal(twinvox.load(threads=2).synthesize(TEXT, seed=9).samples, want)


@pytest.mark.parametrize("threads", [3, 4])
def test_more_threads_in_a_model_run_only_round_differently(tts, threads):
    want = tts.synthesize(TEXT, seed=9).samples
    samples = twinvox.load(threads=threads).synthesize(TEXT, seed=9).samples
    np.testing.assert_allclose(samples, want, rtol=0, atol=1e-3)


def test_no_click_at_segment_joins(tts):
    text = "This is the first sentence. Here comes another one. And that is the last of them."
    speech = tts.synthesize(text)
    assert len(speech.segments) == 3
    steps = np.abs(np.diff(speech.samples))
    for segment in speech.segments[:-1]:
        join = round(segment.end * speech.sample_rate)
        assert steps[join - 960 : join + 960].max() <= np.quantile(steps, 0.999)


@pytest.mark.parametrize(
    "text", ["a", "50", "apple", "I", "Hi!", "Dr. Who?", "naïve café", "x\x00y\x07z", "1,000,000"]
)
def test_tiny_and_odd_texts_are_spoken(tts, text):
    samples = tts.synthesize(text).samples
    assert np.isfinite(samples).all()
    assert np.abs(samples).max() > 0.02


def test_an_unknown_prompt_works(tts):
    voice = tts.voice((buzz(2.5), 24_000), "The quick brown fox jumps over the dog.")
    assert np.isfinite(tts.synthesize(TEXT, voice).samples).all()


def test_int8_is_for_the_flow_alone(monkeypatch):
    opened = {}

    def record(path, *, precision, **options):
        opened[path.stem] = precision
        return open_session(path, **options)

    monkeypatch.setattr(base, "open_session", record)
    twinvox.load(precision="int8")
    assert opened == {"TextEncoder": "fp32", "FmDecoder": "int8", "Vocoder": "fp32"}


def test_int8_speaks_alike():
    """The flow alone is quantised: other samples, of nearly the same spectrum."""
    exact = twinvox.load(threads=1).synthesize(TEXT)
    int8 = twinvox.load(threads=1, precision="int8").synthesize(TEXT)
    assert len(int8.samples) == len(exact.samples)
    assert not np.array_equal(int8.samples, exact.samples)
    spectra = [
        np.log(np.abs(np.fft.rfft(part.reshape(-1, 1024) * np.hanning(1024))) + 1e-2)
        for part in (s.samples[: len(s.samples) // 1024 * 1024] for s in (exact, int8))
    ]
    assert np.abs(spectra[0] - spectra[1]).mean() < 0.25 * spectra[0].std()
    with pytest.raises(ValueError, match="precision is 'int4'; expected fp32 or int8"):
        twinvox.load(precision="int4")
