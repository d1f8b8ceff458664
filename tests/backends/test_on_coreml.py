"""What speaks, on Core ML, CPU only: on a Mac the framework itself, elsewhere the fake."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import twinvox
from tests.backends.test_luxtts_synthesizer import LONG
from tests.toy_cosyvoice3 import SENTENCES
from twinvox.backends import model_folder
from twinvox.errors import SynthesisWarning
from twinvox.runtime import open_session

FOLDER = model_folder("embedded")
TEXT = "The small boat drifted quietly past the old stone bridge at dawn."
STAGES = {
    "gpu/TextEncoder": "token_embeds",
    "gpu/FmDecoder": "v",
    "vocoder/Vocoder": "audio",
}


@pytest.fixture(autouse=True)
def core_ml_of_this_machine(request):
    if sys.platform == "darwin":
        pytest.importorskip("twinvox._native.coreml")
    else:
        request.getfixturevalue("core_ml")


def open_stage(model):
    path = FOLDER / f"{model}.mlpackage"
    return open_session(path, runtime="coreml", compute_units="cpu_only")


def inputs_of(model, session, embedded_reference):
    """The recorded inputs; both masks are called padding_mask, and the tokens' is named so."""
    names = {"padding_mask": "token_padding_mask"} if model == "gpu/TextEncoder" else {}
    return {name: embedded_reference[names.get(name, name)] for name in session.inputs}


@pytest.mark.parametrize("model", STAGES)
def test_outputs_equal_the_training_framework(embedded_reference, model):
    session, output = open_stage(model), STAGES[model]
    got = session.run(inputs_of(model, session, embedded_reference))[output]
    want = embedded_reference[output]
    if output == "v":  # what lies beyond the frames is not used
        active = embedded_reference["padding_mask"][0] == 0
        got, want = got[:, active], want[:, active]
    assert np.abs(got - want).max() <= 2e-3 * np.ptp(want)


@pytest.mark.parametrize("model", STAGES)
def test_bound_buffers_follow_their_inputs(embedded_reference, model):
    session, output = open_stage(model), STAGES[model]
    inputs = {
        name: np.ascontiguousarray(array)
        for name, array in inputs_of(model, session, embedded_reference).items()
    }
    first = session.run(inputs)[output].copy()
    predict = session.bind(inputs, {output: np.empty(first.shape, first.dtype)})
    np.testing.assert_array_equal(predict()[output], first)
    changed = next(name for name in ("x", "mel", "tokens") if name in inputs)
    inputs[changed][:] = np.roll(inputs[changed], 1, axis=-1)
    moved = predict()[output].copy()
    np.testing.assert_array_equal(moved, session.run(inputs)[output])
    assert not np.array_equal(moved, first)


def test_speech_is_that_of_onnx_runtime():
    pytest.importorskip("onnxruntime")
    spoken = twinvox.load(runtime="coreml", compute_units="cpu_only").synthesize(TEXT).samples
    expected = twinvox.load(runtime="onnx", threads=1).synthesize(TEXT).samples
    assert spoken.shape == expected.shape
    assert np.square(spoken - expected).sum() <= 1e-2 * np.square(expected).sum()


def test_threads_share_a_voice():
    tts = twinvox.load(runtime="coreml", compute_units="cpu_only")
    expected = tts.synthesize(TEXT).samples
    with ThreadPoolExecutor(4) as threads:
        for speech in threads.map(lambda _: tts.synthesize(TEXT), range(8)):
            np.testing.assert_array_equal(speech.samples, expected)


def load_toys(folder):
    return twinvox.load(folder, runtime="coreml", compute_units="cpu_only")


def assert_alike(got, want):
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= 2e-3 * np.ptp(want)


def test_luxtts_toys(toy_folder, toy_tts, toy_voice):
    spoken = load_toys(toy_folder).synthesize(LONG, toy_voice, seed=3).samples
    assert_alike(spoken, toy_tts.synthesize(LONG, toy_voice, seed=3).samples)


def test_cosyvoice3_toys(cv3_folder, cv3_tts, cv3_voice):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SynthesisWarning)  # it may decline the buffers
        spoken = load_toys(cv3_folder).synthesize(SENTENCES[0], cv3_voice, seed=5)
    want = cv3_tts.synthesize(SENTENCES[0], cv3_voice, seed=5)
    np.testing.assert_array_equal(spoken.decoded_tokens, want.decoded_tokens)
    assert_alike(spoken.samples, want.samples)
