"""Work that translation leaves out: the result must be the same, the nodes must be gone."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import Input, build_package, mb
from tests.mil.harness import few, floats, run, seeds
from twinvox.mil.package import read_package
from twinvox.mil.translate import to_onnx


def translated(function, inputs):
    """(outputs by name, how often each ONNX node occurs)."""
    specs = {name: Input(array.shape, array.dtype.type) for name, array in inputs.items()}
    with tempfile.TemporaryDirectory() as folder:
        program = read_package(build_package(Path(folder) / "r.mlpackage", function, specs))
        nodes = Counter(node.op_type for node in to_onnx(program).graph.node)
        return run(program, inputs), nodes


@few
@given(shape=st.permutations([1, 1, 5, 3]), seed=seeds, data=st.data())
def test_a_transpose_of_unit_axes_is_a_reshape(shape, seed, data):
    perm = data.draw(st.permutations(range(4)))
    kept = [axis for axis in perm if shape[axis] != 1]
    x = floats(shape, seed)
    result, nodes = translated(lambda x: mb.transpose(x=x, perm=perm), {"x": x})
    np.testing.assert_array_equal(result["out"], x.transpose(perm))
    assert nodes["Transpose"] == (kept != sorted(kept))


def test_a_transpose_and_its_inverse_cancel():
    x = floats((2, 3, 4), 1)

    def function(x):
        return mb.transpose(x=mb.transpose(x=x, perm=[2, 0, 1]), perm=[1, 2, 0])

    result, nodes = translated(function, {"x": x})
    np.testing.assert_array_equal(result["out"], x)
    assert not nodes["Transpose"]


def test_reshapes_in_a_row_are_one():
    x = floats((2, 3, 4), 1)

    def function(x):
        x = mb.expand_dims(x=mb.reshape(x=x, shape=[6, 4]), axes=[0])
        return mb.squeeze(x=mb.reshape(x=x, shape=[1, 8, 3]), axes=[0])

    result, nodes = translated(function, {"x": x})
    np.testing.assert_array_equal(result["out"], x.reshape(8, 3))
    assert nodes == {"Reshape": 1}


@pytest.mark.parametrize("transpose_y", [False, True])
@pytest.mark.parametrize("swap_x", [False, True])
def test_transposes_before_a_product_become_its_flags(transpose_y, swap_x):
    x, y = floats((2, 3, 4, 5), 1), floats((2, 3, 6, 5), 2)
    if transpose_y:
        y = np.ascontiguousarray(y.swapaxes(2, 3))
    if swap_x:
        x = np.ascontiguousarray(x.swapaxes(2, 3))

    def function(x, y):
        x = mb.transpose(x=x, perm=[0, 1, 3, 2]) if swap_x else x
        y = mb.transpose(x=y, perm=[0, 1, 3, 2])
        return mb.matmul(x=x, y=y, transpose_y=transpose_y)

    result, nodes = translated(function, {"x": x, "y": y})
    x = x.swapaxes(2, 3) if swap_x else x
    y = y if transpose_y else y.swapaxes(2, 3)
    np.testing.assert_allclose(result["out"], x @ y, rtol=1e-5, atol=1e-5)
    assert not nodes["Transpose"]


@pytest.mark.parametrize("queries", [1, 7])
@pytest.mark.parametrize("transpose_y", [False, True])
def test_repeated_heads_are_not_copied(queries, transpose_y):
    batch, groups, repeats, rows, inner = 2, 3, 4, 6, 5
    x = floats((batch, groups * repeats, queries, inner if transpose_y else rows), 1)
    y = floats((batch, groups, rows, inner), 2)

    def function(x, y):
        wide = mb.tile(x=mb.expand_dims(x=y, axes=[2]), reps=[1, 1, repeats, 1, 1])
        wide = mb.reshape(x=wide, shape=[batch, groups * repeats, rows, inner])
        return mb.matmul(x=x, y=wide, transpose_y=transpose_y)

    result, nodes = translated(function, {"x": x, "y": y})
    wide = y.repeat(repeats, 1)
    expected = x @ (wide.swapaxes(2, 3) if transpose_y else wide)
    np.testing.assert_allclose(result["out"], expected, rtol=1e-5, atol=1e-5)
    assert not nodes["Tile"]


def test_heads_repeated_in_another_order_are_copied():
    x, y = floats((1, 6, 2, 5), 1), floats((1, 3, 4, 5), 2)

    def function(x, y):
        wide = mb.tile(x=mb.expand_dims(x=y, axes=[1]), reps=[1, 2, 1, 1, 1])
        return mb.matmul(x=x, y=mb.reshape(x=wide, shape=[1, 6, 4, 5]), transpose_y=True)

    result, nodes = translated(function, {"x": x, "y": y})
    expected = x @ np.tile(y, (1, 2, 1, 1)).swapaxes(2, 3)
    np.testing.assert_allclose(result["out"], expected, rtol=1e-5, atol=1e-5)
    assert nodes["Tile"] == 1


def test_slices_pads_and_tiles_that_change_nothing_are_left_out():
    x = floats((2, 3), 1)

    def function(x):
        x = mb.slice_by_index(x=x, begin=[0, 0], end=[2, 0], end_mask=[False, True])
        x = mb.pad(x=x, pad=[0, 0], mode="constant", constant_val=0.0)
        return mb.tile(x=mb.add(x=x, y=x), reps=[1, 1])

    result, nodes = translated(function, {"x": x})
    np.testing.assert_array_equal(result["out"], x + x)
    assert nodes == {"Add": 1}


def test_no_weight_is_transposed_or_copied_into_the_graph(tmp_path):
    weight, bias = floats((64, 48), 1), floats((64,), 2)
    package = build_package(
        tmp_path / "l.mlpackage",
        lambda x: mb.linear(x=x, weight=weight, bias=bias),
        {"x": Input((1, 7, 48))},
    )
    program = read_package(package)
    model = to_onnx(program)
    assert Counter(node.op_type for node in model.graph.node) == {"Reshape": 2, "Gemm": 1}
    inside = [t for t in model.graph.initializer if t.data_location != onnx.TensorProto.EXTERNAL]
    assert all(np.prod(tensor.dims) <= 64 for tensor in inside)
    x = floats((1, 7, 48), 3)
    np.testing.assert_allclose(
        run(program, {"x": x})["out"], x @ weight.T + bias, rtol=1e-5, atol=1e-5
    )


def swoosh(x, bound=np.inf, one=1.0):
    """Zipformer's activation as torch writes it, without log1p."""
    log = mb.log(x=mb.add(x=mb.exp(x=x), y=np.float32(one)))
    return mb.select(cond=mb.equal(x=log, y=np.float32(bound)), a=x, b=log)


def log1p_swoosh(x):
    log = mb.log(x=mb.exp(x=x), epsilon=np.float32(1))
    return mb.select(cond=mb.equal(x=np.float32(np.inf), y=log), a=x, b=log)


@pytest.mark.parametrize("written", [swoosh, log1p_swoosh])
def test_a_softplus_needs_no_mask(written):
    edges = [-np.inf, -200, -88, -20, -1e-6, 0, 1e-6, 15, 79.99, 80, 80.01, 88.7, 89, 1e30, np.inf]
    x = np.array([*edges, np.nan, *np.linspace(-30, 100, 1000)], np.float32)
    result, nodes = translated(written, {"x": x})
    with np.errstate(invalid="ignore"):
        expected = np.logaddexp(x.astype(np.float64), 0)
    np.testing.assert_allclose(result["out"], expected, rtol=3e-7, atol=1e-7)
    assert nodes == {"Min": 1, "Exp": 1, "Add": 1, "Log": 1, "Max": 1}


@pytest.mark.parametrize(
    "other",
    [
        lambda x: swoosh(x, bound=90.0),
        lambda x: swoosh(x, bound=-np.inf),
        lambda x: swoosh(x, one=2.0),
        lambda x: mb.select(cond=mb.equal(x=x, y=np.float32(np.inf)), a=x, b=swoosh(x, bound=9.0)),
    ],
)
def test_what_only_looks_like_a_softplus_keeps_its_mask(other):
    x = np.linspace(-30, 100, 1000, dtype=np.float32)
    _, nodes = translated(other, {"x": x})
    assert nodes["Where"] >= 1
    assert not nodes["Max"]


ONE_NODE = {
    "Conv": lambda x: mb.conv(x=x, weight=floats((6, 4, 3), 1), bias=floats((6,), 2)),
    "Gelu": lambda x: mb.gelu(x=x, mode="TANH_APPROXIMATION"),
    "LayerNormalization": lambda x: mb.layer_norm(
        x=x, axes=[-1], gamma=floats((9,), 1), beta=floats((9,), 2), epsilon=1e-5
    ),
}


@pytest.mark.parametrize("node", ONE_NODE)
def test_fused_operators_stay_fused(node):
    _, nodes = translated(ONE_NODE[node], {"x": floats((1, 4, 9), 3)})
    assert nodes == {node: 1}


def test_channels_before_time_need_no_transpose_in_a_product():
    """Attention for the Neural Engine keeps [batch, channels, 1, time]."""
    x, y = floats((1, 8, 1, 5), 1), floats((1, 5, 1, 6), 2)
    result, nodes = translated(
        lambda x, y: mb.einsum(values=(x, y), equation="nchw,nwhu->nchu"), {"x": x, "y": y}
    )
    expected = np.einsum("nchw,nwhu->nchu", x, y)
    np.testing.assert_allclose(result["out"], expected, rtol=1e-5, atol=1e-5)
    assert not nodes["Transpose"]


def test_a_transpose_of_what_has_no_known_shape_yet():
    """The translation of non_zero ends in a transpose of its own."""
    x = (floats((3, 4), 1) > 0).astype(np.float32)

    def function(x):
        places = mb.transpose(x=mb.non_zero(x=x), perm=[1, 0])
        return mb.matmul(
            x=mb.cast(x=places, dtype="fp32"), y=mb.cast(x=mb.non_zero(x=x), dtype="fp32")
        )

    result, _ = translated(function, {"x": x})
    places = np.stack(np.nonzero(x)).astype(np.float32)
    np.testing.assert_allclose(result["out"], places @ places.T)
