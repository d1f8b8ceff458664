import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tests import toy_models
from tests.mil.builder import Input, Range, build_package, mb
from twinvox.backends.luxtts import contract
from twinvox.errors import ContractError, ModelFormatError, ModelNotFoundError
from twinvox.mil.weights import NUMPY_DTYPES
from twinvox.runtime import default_threads, open_session
from twinvox.runtime.base import check_contract

FRAMES = 32


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    path = tmp_path_factory.mktemp("toy") / "FmDecoder.mlpackage"
    toy_models.write_fm_decoder(path, FRAMES)
    return path


@pytest.fixture(scope="module")
def session(package):
    return open_session(package, runtime="onnx", threads=1)


def test_the_oldest_onnxruntime_that_may_be_installed():
    """Before 1.24 it cannot be given the linked weights of a hub's cache, before 1.25 it averages
    padded windows wrongly."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    found = re.findall(r"onnxruntime>=(\d+)\.(\d+)", project.read_text(encoding="utf-8"))
    assert len(found) == 2  # as a dependency, and as the extra for macOS
    assert all((int(major), int(minor)) >= (1, 25) for major, minor in found)


def test_waiting_threads_leave_the_processor_to_others(package):
    session = open_session(package, runtime="onnx", threads=2)
    options = session._session.get_session_options()
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def test_onnxruntime_sends_nothing_home(package, tmp_path, monkeypatch):
    """It would make an identifier of the device in the user's home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    program = (
        "import os, pathlib, sys; from twinvox.runtime import open_session; was = dict(os.environ);"
        "open_session(pathlib.Path(sys.argv[1]), runtime='onnx'); assert os.environ == was"
    )
    subprocess.run([sys.executable, "-c", program, str(package)], check=True)
    assert list(tmp_path.rglob("*")) == []


def arrays(seed=0):
    return toy_models.fm_decoder_inputs(FRAMES, seed)


def test_declared_tensors(session):
    assert list(session.inputs) == list(arrays())
    assert session.inputs["x"].shape == (1, FRAMES, 100)
    assert session.inputs["x"].dtype == np.float32
    assert session.outputs["v"].shape == (1, FRAMES, 100)


def test_run_equals_numpy(session):
    inputs = arrays()
    np.testing.assert_allclose(session.run(inputs)["v"], toy_models.fm_decoder(**inputs), atol=1e-5)


def test_a_binding_follows_its_buffers(session):
    inputs, outputs = arrays(), {"v": np.zeros((1, FRAMES, 100), np.float32)}
    predict = session.bind(inputs, outputs)
    for seed in (1, 2):
        for name, array in arrays(seed).items():
            inputs[name][:] = array
        got = predict()["v"]
        assert got is outputs["v"]
        np.testing.assert_array_equal(got, session.run(arrays(seed))["v"])


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("x", np.zeros((1, FRAMES, 99), np.float32)),
        ("x", np.zeros((1, FRAMES, 100), np.float64)),
        ("x", np.zeros((1, 100, FRAMES), np.float32).transpose(0, 2, 1)),
        ("y", np.zeros(1, np.float32)),
    ],
)
def test_unfit_buffers_are_refused(session, name, array):
    outputs = {"v": np.zeros((1, FRAMES, 100), np.float32)}
    with pytest.raises(ValueError, match=name):
        session.bind(arrays() | {name: array}, outputs)


def test_a_buffer_that_cannot_be_written_is_refused(session):
    output = np.zeros((1, FRAMES, 100), np.float32)
    output.setflags(write=False)
    with pytest.raises(ValueError, match="v is written to"):
        session.bind(arrays(), {"v": output})


def test_unbound_tensors_are_named(session):
    inputs = arrays()
    del inputs["t"]
    with pytest.raises(ValueError, match="t, v"):
        session.bind(inputs, {})


def test_threads_share_a_session(session):
    want = [session.run(arrays(seed))["v"] for seed in range(8)]
    got = [None] * 8

    def work(seed):
        for _ in range(10):
            got[seed] = session.run(arrays(seed))["v"]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_model_that_fits_its_contract(session):
    check_contract(session, contract.fm_decoder(FRAMES))


def test_every_difference_is_named_at_once(tmp_path):
    path = tmp_path / "FmDecoder.mlpackage"
    toy_models.write_fm_decoder(path, FRAMES, mels=80)
    with pytest.raises(ContractError) as caught:
        check_contract(open_session(path, runtime="onnx", threads=1), contract.fm_decoder(FRAMES))
    message = str(caught.value)
    for name in ("x", "text_condition", "speech_condition"):
        assert f"input {name} is float32 [1, 32, 80], expected float32 [1, 32, 100]" in message
    assert "output v is float32 [1, 32, 80]" in message
    with pytest.raises(ContractError, match=r"input tokens is missing.*input x is not expected"):
        check_contract(open_session(path, runtime="onnx", threads=1), contract.text_encoder())


def test_a_truncated_weight_file_is_a_format_error_also_with_a_warm_cache(package, tmp_path):
    copy = tmp_path / package.name
    shutil.copytree(package, copy)
    open_session(copy, runtime="onnx", threads=1)
    weights = next(copy.rglob("weight.bin"))
    weights.write_bytes(weights.read_bytes()[:-4096])
    with pytest.raises(ModelFormatError, match=r"weight\.bin"):
        open_session(copy, runtime="onnx", threads=1)


def test_linked_weights_run(package, session, tmp_path):
    copy = tmp_path / package.name
    shutil.copytree(package, copy)
    weights = next(copy.rglob("weight.bin"))
    blob = weights.rename(tmp_path / "0123abcd")
    weights.symlink_to(blob)
    got = open_session(copy, runtime="onnx", threads=1).run(arrays())["v"]
    np.testing.assert_array_equal(got, session.run(arrays())["v"])


def linear_package(path, seed):
    weight = np.random.default_rng(seed).standard_normal((64, 32)).astype(np.float32)
    build_package(path, lambda x: {"y": mb.linear(x=x, weight=weight)}, {"x": Input((1, 32))})
    return weight


def test_only_the_weights_beside_the_program_are_read(tmp_path):
    """Not those of a copy kept inside, nor what a download leaves under the names of all files."""
    path, other = tmp_path / "Linear.mlpackage", tmp_path / "Other.mlpackage"
    weight, _ = linear_package(path, 1), linear_package(other, 2)
    shutil.copytree(other / "Data", path / "Copy")
    note = path / ".cache" / "Data" / "weights" / "weight.bin.metadata"
    note.parent.mkdir(parents=True)
    note.touch()
    x = np.ones((1, 32), np.float32)
    got = open_session(path, runtime="onnx", threads=1).run({"x": x})["y"]
    np.testing.assert_allclose(got, x @ weight.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("linked", ["Data", "Data/com.apple.CoreML/weights"])
def test_a_linked_folder_is_read_anew_when_its_content_changes(tmp_path, linked):
    path, x = tmp_path / "Linear.mlpackage", np.ones((1, 32), np.float32)
    linear_package(path, 1)
    (path / linked).rename(tmp_path / "elsewhere")
    (path / linked).symlink_to(tmp_path / "elsewhere")
    for seed in (2, 3):
        other = tmp_path / f"{seed}.mlpackage"
        weight = linear_package(other, seed)
        shutil.copytree(other / linked, tmp_path / "elsewhere", dirs_exist_ok=True)
        got = open_session(path, runtime="onnx", threads=1).run({"x": x})["y"]
        np.testing.assert_allclose(got, x @ weight.T, rtol=1e-5, atol=1e-5)


def test_flexible_shapes_are_limited_as_declared(tmp_path):
    cases = [
        (Input((1, Range(4, 9, 5))), [4, 5, 6, 7, 8, 9]),
        (Input(enumerated=((1, 3), (1, 6))), [3, 6]),
    ]
    for index, (given, accepted) in enumerate(cases):
        path = tmp_path / f"{index}.mlpackage"
        build_package(path, lambda x: {"y": mb.add(x=x, y=x)}, {"x": given})
        spec = open_session(path, runtime="onnx", threads=1).inputs["x"]
        assert spec.shape == (1, None)
        assert [n for n in range(12) if spec.admits((1, n))] == accepted
        assert not spec.admits((5,))


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(ModelNotFoundError, match=r"Nothing\.mlpackage"):
        open_session(tmp_path / "Nothing.mlpackage", runtime="onnx")


COMPILED = """program(1.3)
{{
    func main<ios17>(tensor<{dtype}, [3]> x) {{
        tensor<{dtype}, [3]> y = identity(x = x)[name = string("y")];
    }} -> (y);
}}
"""


@pytest.mark.parametrize("dtype", [d for d in NUMPY_DTYPES if not d.startswith("fp")])
def test_a_compiled_model_may_take_and_give_any_dtype(tmp_path, dtype):
    folder = tmp_path / "Identity.mlmodelc"
    folder.mkdir()
    (folder / "model.mil").write_text(COMPILED.format(dtype=dtype))
    session, x = open_session(str(folder), runtime="onnx"), np.array([0, 1, 1], dtype)
    assert session.inputs["x"].dtype == session.outputs["y"].dtype == x.dtype
    np.testing.assert_array_equal(session.run({"x": x})["y"], x)


def test_threads(package):
    assert 1 <= default_threads() <= 4
    with pytest.raises(ValueError, match="threads is 0"):
        open_session(package, threads=0)


def test_precision(tmp_path):
    path = tmp_path / "Linear.mlpackage"
    rng = np.random.default_rng(1)
    weight = rng.standard_normal((64, 128)).astype(np.float32)
    build_package(path, lambda x: {"y": mb.linear(x=x, weight=weight)}, {"x": Input((2, 128))})
    x = rng.standard_normal((2, 128)).astype(np.float32)
    exact, int8, again = (
        open_session(path, threads=1, precision=precision).run({"x": x})["y"]
        for precision in ("fp32", "int8", "fp32")
    )
    np.testing.assert_allclose(exact, x @ weight.T, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(exact, again)
    assert 0 < np.abs(int8 - exact).max() < 0.05 * np.abs(exact).max()
    with pytest.raises(ValueError, match="precision is 'fp16'; expected fp32 or int8"):
        open_session(path, precision="fp16")
