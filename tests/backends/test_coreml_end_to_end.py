"""Both backends through the real bridge, over a Core ML whose models ONNX Runtime computes.

The same arithmetic on either side: samples are equal bit for bit, whatever becomes of the buffers.
"""

import dataclasses
import json
import mmap
import shutil
import warnings

import numpy as np
import pytest

import twinvox
from tests import fake_coreml as fake
from tests.backends.test_luxtts_synthesizer import LONG
from tests.toy_cosyvoice3 import SENTENCES
from twinvox.cli import main
from twinvox.errors import SynthesisWarning

PAIRS = 3  # of keys and values: front, back, spare
GPU, NE = "cpu_and_gpu", "cpu_and_ne"
ANSWERS = {"used": fake.USE, "ignored": fake.IGNORE, "refused": fake.REJECT, "one": fake.USE_ONE}
LAYOUTS = {"padded": fake.PADDED, "reversed": fake.REVERSED}


@pytest.fixture(params=ANSWERS)
def answer(request, core_ml):
    """What Core ML does with the buffers offered."""
    core_ml.state.backings = ANSWERS[request.param]
    return request.param


@pytest.fixture
def units(core_ml, monkeypatch):
    """The compute units that each model was opened with."""
    from twinvox.runtime import coreml

    opened, open_compiled = {}, coreml.open_compiled

    def record(model, compute_units, folder):
        opened[model.stem] = compute_units
        return open_compiled(model, compute_units, folder)

    monkeypatch.setattr(coreml, "open_compiled", record)
    return opened


@pytest.mark.usefixtures("answer")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_luxtts_speaks_the_same_samples(core_ml, layout, toy_folder, toy_tts, toy_voice):
    core_ml.state.layout = LAYOUTS[layout]
    speech = twinvox.load(toy_folder).synthesize(LONG, toy_voice, seed=3)
    assert core_ml.state.predictions >= 6 * len(speech.segments)
    want = toy_tts.synthesize(LONG, toy_voice, seed=3)
    np.testing.assert_array_equal(speech.samples, want.samples)


def test_cosyvoice3_speaks_the_same_samples(answer, cv3_folder, cv3_tts, cv3_voice):
    text = "".join(SENTENCES[:2])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        speech = twinvox.load(cv3_folder).synthesize(text, cv3_voice, seed=5)
    want = cv3_tts.synthesize(text, cv3_voice, seed=5)
    assert len(speech.segments) == 2
    np.testing.assert_array_equal(speech.decoded_tokens, want.decoded_tokens)
    np.testing.assert_array_equal(speech.samples, want.samples)
    assert [warning.category for warning in said] == [SynthesisWarning] * (answer != "used")


@pytest.fixture
def decoding(core_ml, cv3_folder):
    """A CosyVoice3 and, of each decode step, where Core ML read the keys and the values."""
    tts, seen = twinvox.load(cv3_folder), []
    (path,) = (path for path, toy in core_ml.loaded.items() if names(toy.inputs) >= {"cur_len"})
    toy = core_ml.loaded[path]

    def compute(arrays):
        seen.append((arrays["kv_k"].ctypes.data, arrays["kv_v"].ctypes.data))
        return toy.compute(arrays)

    core_ml.loaded[path] = dataclasses.replace(toy, compute=compute)
    return tts, seen


def names(features):
    return {feature.name for feature in features}


def test_the_cache_rotates_without_a_copy(core_ml, decoding, cv3_voice):
    """What a step reads is where Core ML wrote the step before: no warning says otherwise."""
    tts, seen = decoding
    tts.synthesize(SENTENCES[0], cv3_voice)
    assert len(seen) > 2 * PAIRS
    assert seen == [seen[step % PAIRS] for step in range(len(seen))]
    addresses = {address for pair in seen for address in pair}
    assert len(addresses) == 2 * PAIRS
    assert all(address % mmap.PAGESIZE == 0 for address in addresses)
    outputs = 3
    assert core_ml.state.offers == outputs * (1 + len(seen))


def test_a_refusal_is_announced_once_and_not_provoked_again(core_ml, decoding, cv3_voice):
    tts, seen = decoding
    core_ml.state.backings = fake.REJECT
    with pytest.warns(SynthesisWarning, match="declined the buffers") as said:
        speech = tts.synthesize("".join(SENTENCES[:2]), cv3_voice)
    assert len(said) == 1
    bindings = 1 + PAIRS
    assert core_ml.state.offers == bindings
    per_segment = 3  # prefill, flow, hift
    assert core_ml.state.predictions == (len(seen) + per_segment * len(speech.segments) + bindings)


def test_cosyvoice3_keeps_the_neural_engine_to_the_prefill(units, cv3_folder):
    twinvox.load(cv3_folder)
    prefill, decode, flow, hift = (
        next(stem for stem in units if stem.startswith(name))
        for name in ("LLM-Prefill", "LLM-Decode", "Flow", "HiFT")
    )
    assert units == {prefill: NE, decode: GPU, flow: GPU, hift: GPU}
    twinvox.load(cv3_folder, compute_units={"prefill": GPU, "flow": "cpu_only"})
    assert units == {prefill: GPU, decode: GPU, flow: "cpu_only", hift: GPU}
    twinvox.load(cv3_folder, compute_units="all")
    assert set(units.values()) == {"all"}


def test_parity_takes_compute_units(units, parity, shipping):
    code, _, _ = parity("synthesizer", shipping, "--compute-units", "flow=cpu_only")
    assert code == 0
    assert sorted(units.values()) == [GPU, GPU, "cpu_and_ne", "cpu_only"]


def test_luxtts_units_follow_the_variant(units, toy_folder, tmp_path):
    vocoders = {"Vocoder282": GPU, "Vocoder555": GPU}
    twinvox.load(toy_folder)
    assert units == {"TextEncoder": GPU, "FmDecoder": GPU, **vocoders}
    folder = shutil.copytree(toy_folder, tmp_path / "toy")
    (folder / "gpu").rename(folder / "ane")
    twinvox.load(folder, variant="ane")
    assert units == {"TextEncoder": NE, "FmDecoder": NE, **vocoders}


def test_say_on_core_ml(units, tmp_path, capsys):
    """The embedded voice: flexible shapes, and outputs whose shape Core ML does not tell."""
    a, b = tmp_path / "a.wav", tmp_path / "b.wav"
    options = ["--compute-units", "vocoder=cpu_only", "--json", "-o", str(a)]
    assert main(["say", "Hello there.", *options]) == 0
    assert units == {"TextEncoder": GPU, "FmDecoder": GPU, "Vocoder": "cpu_only"}
    assert json.loads(capsys.readouterr().out)["timings_ms"].keys() == {
        "text_encoder", "flow", "vocoder",
    }  # fmt: skip
    assert main(["say", "Hello there.", "--runtime", "onnx", "--threads", "1", "-o", str(b)]) == 0
    assert a.read_bytes() == b.read_bytes()
