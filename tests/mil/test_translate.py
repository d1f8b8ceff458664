"""Translation as a whole: boundary, precision, weights, errors, and that every kind is tested."""

import importlib
import pkgutil

import numpy as np
import onnx
import pytest

import tests.mil
from tests.mil.builder import Input, build_package, mb
from tests.mil.harness import COVERED, floats, run, session
from twinvox.errors import UnsupportedOpError
from twinvox.mil.ops import load
from twinvox.mil.package import read_package
from twinvox.mil.translate import to_onnx

CONTRACT = """
abs add sub mul real_div pow maximum equal greater greater_equal less less_equal logical_and exp
log sqrt rsqrt square sin cos tanh sigmoid silu softplus elu leaky_relu gelu clip select cast floor
reshape transpose expand_dims squeeze concat stack split tile slice_by_index pad gather
gather_along_axis scatter range_1d matmul linear conv conv_transpose reduce_mean reduce_sum
reduce_l2_norm softmax layer_norm cumsum upsample_nearest_neighbor upsample_bilinear slice_update
constexpr_affine_dequantize constexpr_lut_to_dense minimum not_equal logical_or logical_not relu
relu6 prelu softsign erf exp2 inverse ceil round sign identity fill fill_like shape band_part
slice_by_size gather_nd reduce_max reduce_min reduce_argmax max_pool avg_pool batch_norm
instance_norm l2_norm einsum pixel_shuffle lstm
"""


def test_every_kind_of_the_contract_is_translated():
    assert not [kind for kind in CONTRACT.split() if kind not in load()]


def test_every_kind_is_checked_against_numpy():
    for module in pkgutil.iter_modules(tests.mil.__path__):
        importlib.import_module(f"tests.mil.{module.name}")
    assert set(load()) == COVERED


def test_an_unknown_kind_is_named_with_those_that_are_known(tmp_path):
    def function(x):
        return mb.local_response_norm(x=x, size=3, name="lrn_1")

    package = build_package(tmp_path / "lrn.mlpackage", function, {"x": Input((1, 4, 3, 3))})
    with pytest.raises(UnsupportedOpError) as error:
        to_onnx(read_package(package))
    for part in ("lrn.mlpackage", "'lrn_1'", "local_response_norm", "layer_norm", "matmul"):
        assert part in str(error.value)


def test_an_unknown_parameter_is_named(tmp_path):
    package = build_package(tmp_path / "p.mlpackage", lambda x: mb.relu(x=x), {"x": Input((2,))})
    program = read_package(package)
    program.operations[0].inputs["surprise"] = program.operations[0].inputs["x"]
    with pytest.raises(UnsupportedOpError, match=r"'relu_0' \(relu\): unknown parameters surprise"):
        to_onnx(program)


def test_control_flow_is_refused_by_name(tmp_path):
    def function(x):
        return mb.cond(
            pred=mb.greater(x=mb.squeeze(x=x), y=0.0),
            _true_fn=lambda: mb.add(x=x, y=1.0),
            _false_fn=lambda: mb.sub(x=x, y=1.0),
        )

    package = build_package(tmp_path / "c.mlpackage", function, {"x": Input((1,))})
    with pytest.raises(UnsupportedOpError, match="kind cond"):
        to_onnx(read_package(package))


def half_precision(x):
    weight = floats((64, 48), 1).astype(np.float16)
    bias = floats((64,), 2).astype(np.float16)
    half = mb.cast(x=x, dtype="fp16")
    return mb.cast(x=mb.linear(x=half, weight=weight, bias=bias), dtype="fp32")


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    path = tmp_path_factory.mktemp("half") / "half.mlpackage"
    return read_package(build_package(path, half_precision, {"x": Input((5, 48))}))


def exact(x):
    weight = floats((64, 48), 1).astype(np.float16).astype(np.float64)
    return x.astype(np.float64) @ weight.T + floats((64,), 2).astype(np.float16)


def test_fp16_is_computed_in_fp32_by_default(half):
    x = floats((5, 48), 3)
    np.testing.assert_allclose(run(half, {"x": x})["out"], exact(x), rtol=1e-5, atol=1e-5)


def test_fp16_can_be_kept(half):
    x = floats((5, 48), 3)
    model = to_onnx(half, precision="fp16")
    (product,) = (node for node in model.graph.node if node.op_type == "Gemm")
    dtypes = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    assert dtypes[product.input[1]] == onnx.TensorProto.FLOAT16
    result = run(half, {"x": x}, precision="fp16")["out"]
    np.testing.assert_allclose(result, exact(x), rtol=2e-3, atol=5e-2)


ONE, TWO = np.float32(1), np.float32(2)
WITH_ANOTHER_DTYPE = {
    "clamped_relu": (lambda x: mb.clamped_relu(x=x, alpha=TWO, beta=ONE), [-5, 0.5, 1]),
    "layer_norm": (
        lambda x: mb.layer_norm(x=x, axes=[0], gamma=np.full(3, TWO), epsilon=np.float32(0)),
        [-2.673, 0.535, 2.138],
    ),
    "linear_activation": (lambda x: mb.linear_activation(x=x, alpha=TWO, beta=ONE), [-4, 2, 5]),
    "matmul": (lambda x: mb.matmul(x=x, y=np.float32([[2], [0], [1]])), [-3]),
    "scaled_tanh": (lambda x: mb.scaled_tanh(x=x, alpha=TWO, beta=ONE), [-1.973, 0.924, 1.928]),
    "thresholded_relu": (lambda x: mb.thresholded_relu(x=x, alpha=ONE), [0, 0, 2]),
}


@pytest.mark.parametrize("kind", WITH_ANOTHER_DTYPE)
def test_constants_of_another_dtype(tmp_path, kind):
    function, expected = WITH_ANOTHER_DTYPE[kind]
    package = build_package(tmp_path / "c.mlpackage", function, {"x": Input((3,), np.float16)})
    x = np.array([-2.5, 0.5, 2], np.float16)
    for precision in ("fp32", "fp16"):
        (result,) = run(read_package(package), {"x": x}, precision=precision).values()
        np.testing.assert_allclose(result, expected, atol=2e-3)


def test_rounding_to_fp16_after_every_operation_shows_overflow(tmp_path):
    def function(x):
        large = mb.mul(x=mb.cast(x=x, dtype="fp16"), y=np.float16(300))
        small = mb.mul(x=large, y=np.float16(1 / 512))
        return mb.cast(x=small, dtype="fp32")

    program = read_package(build_package(tmp_path / "o.mlpackage", function, {"x": Input((2,))}))
    x = np.array([3, 300], np.float32)
    np.testing.assert_allclose(run(program, {"x": x})["out"], x * 300 / 512)
    rounded = run(program, {"x": x}, round_fp16=True)["out"]
    np.testing.assert_array_equal(rounded, [np.float32(np.float16(900 / 512)), np.inf])


def test_fp16_inputs_and_outputs_stay_fp16(tmp_path):
    inputs = {"x": Input((2, 3), np.float16)}
    package = build_package(tmp_path / "b.mlpackage", lambda x: mb.square(x=x), inputs)
    x = floats((2, 3), 1).astype(np.float16)
    for options in ({}, {"precision": "fp16"}, {"round_fp16": True}):
        (out,) = run(read_package(package), {"x": x}, **options).values()
        assert out.dtype == np.float16
        np.testing.assert_allclose(out, x * x, rtol=1e-3)


def test_precision_is_checked(half):
    with pytest.raises(ValueError, match="'int4'"):
        to_onnx(half, precision="int4")


def test_weights_stay_in_place(half):
    model = to_onnx(half)
    stored = [t for t in model.graph.initializer if t.data_location == onnx.TensorProto.EXTERNAL]
    (weight,) = stored
    details = {entry.key: entry.value for entry in weight.external_data}
    assert details["location"] == "weight.bin"
    assert int(details["length"]) == 64 * 48 * 2
    assert int(details["offset"]) % 64 == 0
    assert len(model.SerializeToString()) < 64 * 48
    assert not to_onnx(half, external_weights=False).graph.initializer[0].external_data


def test_weights_can_be_put_into_the_graph(half):
    x = floats((5, 48), 3)
    inside = run(half, {"x": x}, external_weights=False)["out"]
    np.testing.assert_array_equal(inside, run(half, {"x": x})["out"])


def test_names_shapes_and_dtypes_are_the_packages(tmp_path):
    inputs = {
        "tokens": Input((1, 7), np.int32),
        "mel": Input(enumerated=((1, 4, 9), (1, 4, 5))),
    }

    def function(tokens, mel):
        total = mb.reduce_sum(x=mb.cast(x=tokens, dtype="fp32"), axes=[1], keep_dims=True)
        return {"audio": mb.mul(x=mel, y=total), "count": mb.add(x=tokens, y=tokens)}

    program = read_package(build_package(tmp_path / "n.mlpackage", function, inputs))
    ours = session(program)
    assert [(i.name, i.type, i.shape) for i in ours.get_inputs()] == [
        ("tokens", "tensor(int32)", [1, 7]),
        ("mel", "tensor(float)", [1, 4, "mel_2"]),
    ]
    assert [(o.name, o.type) for o in ours.get_outputs()] == [
        ("audio", "tensor(float)"),
        ("count", "tensor(int32)"),
    ]
    tokens = np.arange(7, dtype=np.int32)[None]
    for frames in (9, 5):
        mel = floats((1, 4, frames), frames)
        audio, count = ours.run(["audio", "count"], {"tokens": tokens, "mel": mel})
        np.testing.assert_allclose(audio, mel * 21, rtol=1e-6)
        np.testing.assert_array_equal(count, tokens * 2)


def test_a_constant_output_and_an_unused_input(tmp_path):
    package = build_package(
        tmp_path / "k.mlpackage",
        lambda x, unused: {"same": x, "fixed": mb.const(val=floats((3,), 1))},
        {"x": Input((2,)), "unused": Input((2,))},
    )
    x = floats((2,), 2)
    same, fixed = run(read_package(package), {"x": x, "unused": x}).values()
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(fixed, floats((3,), 1))


def test_translation_is_repeatable(half):
    assert to_onnx(half).SerializeToString() == to_onnx(half).SerializeToString()
