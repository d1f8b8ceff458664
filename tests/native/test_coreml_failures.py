"""What the Core ML bridge refuses, and how failures of the framework come back."""

import weakref

import numpy as np
import pytest

from tests.fake_coreml import (
    ERROR,
    EXCEPTION,
    SILENT_ERROR,
    THROWN_STRING,
    Feature,
    Toy,
)
from tests.native.toy_coreml import SHAPE, arrays, buffers, check, combine, toy
from twinvox.errors import ModelFormatError, SynthesisError

TEXTS = {
    ERROR: r"the prediction failed: the plan is gone \(com\.apple\.CoreML 11\)",
    EXCEPTION: r"the prediction broke \(NSInternalInconsistencyException 0\)",
    THROWN_STRING: "Core ML raised a foreign exception",
    SILENT_ERROR: "Core ML failed and gave no reason",
}


@pytest.mark.parametrize("fault", TEXTS)
def test_what_core_ml_says_reaches_python(fake_coreml, fault):
    inputs, outputs = arrays(), buffers()
    model = fake_coreml.open(toy())
    binding = model.bind(inputs, outputs)
    fake_coreml.state.predict_fault = fault
    for predict in (binding, lambda: model.predict(inputs)):
        with pytest.raises(SynthesisError, match=f"Core ML cannot predict: {TEXTS[fault]}"):
            predict()
    fake_coreml.state.predict_fault = 0
    check(binding(), inputs)
    check(model.predict(inputs), inputs)


@pytest.mark.parametrize("fault", TEXTS)
def test_what_fails_while_loading(fake_coreml, fault):
    fake_coreml.state.load_fault = fault
    text = TEXTS[fault].replace("the prediction", "loading")
    with pytest.raises(ModelFormatError, match=rf"Core ML cannot load /\S+toy\.mlmodelc: {text}"):
        fake_coreml.open(toy())
    assert fake_coreml.live() == 0


@pytest.mark.parametrize("fault", TEXTS)
def test_what_fails_while_compiling(fake_coreml, fault):
    fake_coreml.state.compile_fault = fault
    text = TEXTS[fault].replace("the prediction", "compiling")
    with pytest.raises(ModelFormatError, match=rf"Core ML cannot compile a/b\.mlpackage: {text}"):
        fake_coreml.module.compile_package("a/b.mlpackage")


@pytest.mark.parametrize("folder", ["/", "/a"])
def test_a_long_text_is_cut_between_characters(fake_coreml, folder):
    with pytest.raises(ModelFormatError) as raised:
        fake_coreml.module.Model(f"{folder}{'é' * 1000}.mlmodelc", "all")
    said = str(raised.value).rpartition(": ")[2]
    assert said.startswith(f"{folder}ééé")
    assert 1000 < len(said.partition(" (com.apple")[0].encode()) < 1024


def test_a_missing_output(fake_coreml):
    model = fake_coreml.open(toy())
    fake_coreml.state.omit_output = True
    for _ in range(3):
        with pytest.raises(SynthesisError, match=r"no array came back for (total|back)"):
            model.predict(arrays())
    del model
    assert fake_coreml.live() == 0


def test_an_output_of_a_type_that_is_not_ours(fake_coreml):
    model = fake_coreml.open(
        Toy([Feature("x", (2,))], [Feature("y", ())], lambda a: {"y": a["x"].astype(np.float64)})
    )
    with pytest.raises(SynthesisError, match="element type 65600"):
        model.predict({"x": np.zeros(2, np.float32)})


X = np.zeros(SHAPE, np.float32)
UNALIGNED = memoryview(bytearray(X.nbytes + 1))[1:].cast("f", SHAPE)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"x": None}, TypeError, "x must be a float32 array, got NoneType"),
        ({"x": X.astype(np.float64)}, TypeError, "x must be a float32 array, got float64 array"),
        ({"x": X.astype(np.float16)}, TypeError, "got float16 array: convert it with astype"),
        ({"x": X[:, :, :99]}, ValueError, r"x has shape \[2, 3, 99\]; expected \[2, 3, 100\]"),
        ({"x": X[0]}, ValueError, r"x has shape \[3, 100\]; expected \[2, 3, 100\]"),
        ({"z": X}, ValueError, "inputs are x, y, z; expected x, y"),
    ],
)
def test_bad_inputs(fake_coreml, change, error, message):
    model = fake_coreml.open(toy())
    with pytest.raises(error, match=message):
        model.predict(arrays() | change)
    with pytest.raises(error, match=message):
        model.bind(arrays() | change, buffers())
    assert fake_coreml.state.predictions == 0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"total": X.astype(np.int32)}, TypeError, "total must be a float32 array"),
        ({"total": np.zeros((2, 3, 7), np.float32)}, ValueError, r"expected \[2, 3, 100\]"),
        ({"total": np.broadcast_to(X[:1], SHAPE)}, ValueError, "it must be writable"),
        ({"total": np.zeros(SHAPE[::-1], np.float32).T}, ValueError, "cannot take total in place"),
        ({"total": np.zeros((2, 3, 200), np.float32)[..., ::2]}, None, None),
        ({"total": X[..., ::-1]}, ValueError, r"pass rows\.compact of it"),
        ({"total": UNALIGNED}, ValueError, "cannot take total in place"),
        ({"more": X}, ValueError, "outputs are total, back, more; expected back, total"),
    ],
)
def test_bad_outputs(fake_coreml, change, error, message):
    model = fake_coreml.open(toy())
    if error is None:
        check(model.bind(arrays(), buffers() | change)(), arrays())
        return
    with pytest.raises(error, match=message):
        model.bind(arrays(), buffers() | change)


def test_missing_names(fake_coreml):
    model = fake_coreml.open(toy())
    with pytest.raises(ValueError, match="inputs are x; expected x, y"):
        model.predict({"x": X})
    with pytest.raises(ValueError, match="outputs are ; expected back, total"):
        model.bind(arrays(), {})


@pytest.mark.parametrize(
    ("feature", "good", "bad"),
    [
        (Feature("x", (1, 4), shapes=[(1, 4), (1, 8)]), [(1, 4), (1, 8)], [(1, 6), (2, 4), (4,)]),
        (Feature("x", (1, 4), ranges=[(1, 1), (2, 9)]), [(1, 2), (1, 9)], [(1, 1), (1, 10)]),
        (Feature("x", (1, 4), ranges=[(1, 1), (2, None)]), [(1, 5000)], [(1, 1), (2, 2)]),
    ],
)
def test_flexible_shapes(fake_coreml, feature, good, bad):
    model = fake_coreml.open(Toy([feature], [Feature("y", ())], lambda a: {"y": a["x"] + 1}))
    for shape in good:
        x = np.random.default_rng(0).random(shape, np.float32)
        y = np.empty(shape, np.float32)
        np.testing.assert_array_equal(model.predict({"x": x})["y"], x + 1)
        assert model.bind({"x": x}, {"y": y})()["y"] is y
    for shape in bad:
        with pytest.raises(ValueError, match=r"expected \[1, \?\] within"):
            model.predict({"x": np.zeros(shape, np.float32)})


def test_a_buffer_of_a_wrong_size_for_an_output_of_any_shape(fake_coreml):
    model = fake_coreml.open(
        Toy([Feature("x", (4,))], [Feature("y", ())], lambda a: {"y": a["x"] + 1})
    )
    binding = model.bind({"x": np.zeros(4, np.float32)}, {"y": np.zeros(3, np.float32)})
    np.testing.assert_array_equal(binding()["y"], np.ones(4))
    assert "the backing of y has another shape" in binding.refusal


def test_too_many_axes_for_an_output_of_any_shape(fake_coreml):
    model = fake_coreml.open(Toy([Feature("x", (4,))], [Feature("y", ())], lambda a: {"y": a["x"]}))
    with pytest.raises(ValueError, match=r"y has shape \[1, .*expected at most 8 axes"):
        model.bind({"x": np.zeros(4, np.float32)}, {"y": np.zeros((1,) * 9, np.float32)})


def test_after_close(fake_coreml):
    model = fake_coreml.open(toy())
    binding = model.bind(arrays(), buffers())
    model.close()
    model.close()
    for use in (binding, lambda: model.predict(arrays())):
        with pytest.raises(ValueError, match="cannot predict: the model is closed"):
            use()
    assert model.inputs[0][0] == "x"


def test_a_binding_keeps_model_and_buffers(fake_coreml):
    inputs, outputs = arrays(), buffers()
    kept = [weakref.ref(array) for array in (*inputs.values(), *outputs.values())]
    expected = combine(inputs)
    binding = fake_coreml.open(toy()).bind(inputs, outputs)
    del inputs, outputs
    np.testing.assert_array_equal(binding()["back"], expected["back"])
    assert all(array() is not None for array in kept)
    del binding
    assert all(array() is None for array in kept)
    assert fake_coreml.live() == 0
