"""Packages printed as text and read again: the same graphs and results."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import twinvox
from tests import toy_cosyvoice3, toy_models
from tests.mil.builder import Input, Range, build_package, mb
from tests.mil.harness import check_as_text
from tests.mil.text_printer import write_compiled
from twinvox.errors import ModelNotFoundError
from twinvox.mil.package import read_package
from twinvox.mil.text import read_compiled
from twinvox.runtime import open_session

EMBEDDED = Path(twinvox.__file__).parent / "data" / "embedded"


def test_ranges_and_enumerated_shapes_come_back(tmp_path):
    inputs = {
        "x": Input((Range(1, 8, 4), 3)),
        "y": Input(enumerated=((1, 5), (1, 9))),
        "half": Input((2, 3), np.float16),
    }

    def function(x, y, half):
        return {"a": mb.relu(x=x), "b": mb.relu(x=y), "c": mb.relu(x=half)}

    package = build_package(tmp_path / "f.mlpackage", function, inputs)
    check_as_text(package)
    outputs = [(f.name, f.dtype, f.shape) for f in read_package(package).features_out]
    read = read_compiled(write_compiled(package, tmp_path / "f.mlmodelc"))
    assert [(f.name, f.dtype, f.shape) for f in read.features_out] == outputs


@pytest.mark.parametrize("path", sorted(EMBEDDED.rglob("*.mlpackage")), ids=lambda path: path.stem)
def test_the_embedded_models_as_text(path):
    check_as_text(path)


@pytest.mark.parametrize("toys", [toy_models, toy_cosyvoice3], ids=["luxtts", "cosyvoice3"])
def test_the_toys_as_text(tmp_path, toys):
    packages = sorted(toys.write_folder(tmp_path / "toys").rglob("*.mlpackage"))
    assert len(packages) >= 4
    for package in packages:
        check_as_text(package)


def test_a_session_of_a_compiled_model(tmp_path):
    package = tmp_path / "FmDecoder.mlpackage"
    toy_models.write_fm_decoder(package, 32)
    compiled = write_compiled(package, tmp_path / "FmDecoder.mlmodelc")
    rng = np.random.default_rng(0)
    ours, theirs = open_session(compiled, threads=1), open_session(package, threads=1)
    assert (ours.inputs, ours.outputs) == (theirs.inputs, theirs.outputs)
    inputs = {name: rng.random(spec.shape, np.float32) for name, spec in ours.inputs.items()}
    np.testing.assert_array_equal(ours.run(inputs)["v"], theirs.run(inputs)["v"])
    shutil.rmtree(compiled / "weights")
    with pytest.raises(ModelNotFoundError, match=r"weight\.bin"):
        open_session(compiled, threads=1)
