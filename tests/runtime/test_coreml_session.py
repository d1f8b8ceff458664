"""The Core ML session on the real bridge, over the fake framework."""

import logging
import shutil
import threading

import numpy as np
import pytest

from tests import fake_coreml as fake
from tests import toy_models
from tests.mil.builder import Input, Range, build_package, mb
from twinvox.backends.luxtts import contract
from twinvox.errors import ContractError, ModelFormatError, ModelNotFoundError, SynthesisError
from twinvox.runtime import open_session
from twinvox.runtime.base import check_contract
from twinvox.runtime.cache import cache_dir

FRAMES = 32
ROWS = (1, FRAMES, 100)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    path = tmp_path_factory.mktemp("toy") / "FmDecoder.mlpackage"
    toy_models.write_fm_decoder(path, FRAMES)
    return path


@pytest.fixture(scope="module")
def onnx(package):
    return open_session(package, runtime="onnx", threads=1)


@pytest.fixture
def session(core_ml, package):
    return open_session(package)


def arrays(seed=0):
    return toy_models.fm_decoder_inputs(FRAMES, seed)


def test_declared_tensors_are_those_of_the_onnx_session(session, onnx):
    assert type(session).__name__ == "CoreMLSession"
    for got, want in ((session.inputs, onnx.inputs), (session.outputs, onnx.outputs)):
        assert {name: str(spec) for name, spec in got.items()} == {
            name: str(spec) for name, spec in want.items()
        }
        assert all(spec.name == name for name, spec in got.items())


def test_run_equals_onnx_runtime_with_padded_rows(session, onnx):
    got = session.run(arrays())["v"]
    assert not got.flags.c_contiguous
    assert got.strides[-1] == 4
    np.testing.assert_array_equal(got, onnx.run(arrays())["v"])


def test_inputs_of_any_strides(session, onnx):
    inputs = arrays()
    strided = {name: np.asfortranarray(array) for name, array in inputs.items()}
    strided["x"] = np.repeat(inputs["x"], 2, axis=2)[..., ::2]
    np.testing.assert_array_equal(session.run(strided)["v"], onnx.run(inputs)["v"])


def test_rows_come_one_after_another_whatever_core_ml_returns(core_ml, session, onnx):
    core_ml.state.layout = fake.REVERSED
    core_ml.state.backings = fake.IGNORE
    inputs = arrays()
    bound = session.bind(inputs, {"v": np.zeros(ROWS, np.float32)})()
    for got in (session.run(inputs)["v"], bound["v"]):
        assert got.strides[-1] == 4
        assert got.strides[-2] >= 400
        np.testing.assert_array_equal(got, onnx.run(inputs)["v"])


@pytest.mark.parametrize(
    ("mode", "taken"), [(fake.USE, True), (fake.IGNORE, False), (fake.REJECT, False)]
)
def test_a_binding_follows_its_buffers(core_ml, session, onnx, mode, taken):
    core_ml.state.backings = mode
    inputs, outputs = arrays(), {"v": np.zeros(ROWS, np.float32)}
    predict = session.bind(inputs, outputs)
    for seed in (1, 2, 3):
        for name, array in arrays(seed).items():
            inputs[name][:] = array
        got = predict()["v"]
        assert (got is outputs["v"]) is taken
        np.testing.assert_array_equal(got, onnx.run(inputs)["v"])
    # A refusal is tried once: the first prediction runs twice.
    refused = mode == fake.REJECT
    assert (core_ml.state.offers, core_ml.state.predictions) == ((1, 4) if refused else (3, 3))


def test_the_reason_of_a_refusal_is_logged_once(core_ml, session, caplog):
    core_ml.state.backings = fake.REJECT
    predict = session.bind(arrays(), {"v": np.zeros(ROWS, np.float32)})
    with caplog.at_level(logging.INFO, "twinvox"):
        for _ in range(3):
            predict()
    (record,) = caplog.records
    assert "the output backings cannot be used" in record.getMessage()


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("x", np.zeros((1, FRAMES, 99), np.float32)),
        ("x", np.zeros(ROWS, np.float64)),
        ("y", np.zeros(1, np.float32)),
    ],
)
def test_unfit_inputs_are_refused(session, name, array):
    with pytest.raises((ValueError, TypeError), match=name):
        session.bind(arrays() | {name: array}, {"v": np.zeros(ROWS, np.float32)})
    with pytest.raises((ValueError, TypeError), match=name):
        session.run(arrays() | {name: array})


def test_unbound_tensors_are_named(session):
    inputs = arrays()
    del inputs["t"]
    with pytest.raises(ValueError, match="t"):
        session.bind(inputs, {"v": np.zeros(ROWS, np.float32)})
    with pytest.raises(ValueError, match="v"):
        session.bind(arrays(), {})


def test_threads_share_a_session(session, onnx):
    want = [onnx.run(arrays(seed))["v"] for seed in range(8)]
    got = [None] * 8

    def work(seed):
        inputs, outputs = arrays(seed), {"v": np.zeros(ROWS, np.float32)}
        predict = session.bind(inputs, outputs)
        for _ in range(5):
            np.testing.assert_array_equal(session.run(inputs)["v"], want[seed])
            got[seed] = predict()["v"]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_contracts_hold_where_core_ml_tells_no_output_shape(core_ml, session, tmp_path):
    def core_ml_with_output(feature):
        path = tmp_path / f"{feature.dtype}.mlmodelc"
        path.mkdir()
        inputs = [fake.Feature(name, array.shape) for name, array in arrays().items()]
        core_ml.open(fake.Toy(inputs, [feature], dict), path)
        return open_session(path)

    check_contract(session, contract.fm_decoder(FRAMES))
    with pytest.raises(ContractError, match=r"input x is float32 \[1, 32, 100\], expected"):
        check_contract(session, contract.fm_decoder(64))
    silent = core_ml_with_output(fake.Feature("v", ()))
    assert silent.outputs["v"].shape is None
    check_contract(silent, contract.fm_decoder(FRAMES))
    half = core_ml_with_output(fake.Feature("v", (), "float16"))
    with pytest.raises(ContractError, match="output v is float16 of any shape, expected float32"):
        check_contract(half, contract.fm_decoder(FRAMES))


def test_a_compiled_model_opens_as_it_is(core_ml, package, onnx, tmp_path, monkeypatch):
    monkeypatch.setenv("TWINVOX_CACHE_DIR", str(tmp_path / "cache"))
    open_session(package)
    (compiled,) = (cache_dir() / "compiled").rglob("*.mlmodelc")
    moved = tmp_path / "FmDecoder.mlmodelc"
    shutil.copytree(compiled, moved)
    before = core_ml.state.compilations
    got = open_session(moved).run(arrays())["v"]
    assert core_ml.state.compilations == before
    np.testing.assert_array_equal(got, onnx.run(arrays())["v"])


def test_a_package_is_compiled_once_and_its_folder_left_alone(core_ml, tmp_path, monkeypatch):
    monkeypatch.setenv("TWINVOX_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "models"
    path = folder / "double.mlpackage"
    folder.mkdir()
    build_package(path, lambda x: {"y": mb.add(x=x, y=x)}, {"x": Input((1, 3))})
    before = sorted(folder.rglob("*"))
    for _ in range(2):
        open_session(path)
    assert core_ml.state.compilations == 1
    assert sorted(folder.rglob("*")) == before
    assert list((tmp_path / "cache" / "compiled").rglob("*.mlmodelc"))


def test_flexible_shapes_are_limited_as_declared(core_ml, tmp_path):
    cases = [
        (Input((1, Range(4, 9, 5))), [4, 5, 6, 7, 8, 9]),
        (Input(enumerated=((1, 3), (1, 6))), [3, 6]),
    ]
    for index, (given, accepted) in enumerate(cases):
        path = tmp_path / f"{index}.mlpackage"
        build_package(path, lambda x: {"y": mb.add(x=x, y=x)}, {"x": given})
        session = open_session(path)
        spec = session.inputs["x"]
        assert [n for n in range(12) if spec.admits((1, n))] == accepted
        x = np.ones((1, accepted[-1]), np.float32)
        np.testing.assert_array_equal(session.run({"x": x})["y"], x + x)


@pytest.mark.parametrize(("unit", "code"), [
    (None, 2), ("cpu_only", 0), ("cpu_and_gpu", 1), ("all", 2), ("cpu_and_ne", 3),
])  # fmt: skip
def test_compute_units_reach_core_ml(core_ml, package, unit, code):
    open_session(package, compute_units=unit)
    assert core_ml.state.compute_units == code


def test_what_fails_is_an_error_of_the_tree(core_ml, session, package, tmp_path):
    with pytest.raises(ModelNotFoundError, match=r"Nothing\.mlpackage"):
        open_session(tmp_path / "Nothing.mlpackage")
    broken = tmp_path / "broken.mlpackage"
    shutil.copytree(package, broken)
    next(broken.rglob("*.mlmodel")).write_bytes(b"")
    with pytest.raises(ModelFormatError, match=r"broken\.mlpackage.*is no model"):
        open_session(broken)
    core_ml.state.compile_fault = fake.ERROR
    with pytest.raises(ModelFormatError, match=r"broken\.mlpackage"):
        open_session(broken)
    core_ml.state.predict_fault = fake.ERROR
    with pytest.raises(SynthesisError, match=r"failed.*com\.apple\.CoreML"):
        session.run(arrays())
    core_ml.state.predict_fault = 0
    session.run(arrays())


def test_a_session_that_is_dropped_leaves_nothing(core_ml, package):
    live = core_ml.live()
    session = open_session(package)
    predict = session.bind(arrays(), {"v": np.zeros(ROWS, np.float32)})
    predict()
    assert core_ml.live() > live
    del session, predict
    assert core_ml.live() == live
