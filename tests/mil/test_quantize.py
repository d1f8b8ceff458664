"""int8 products: close to the exact ones, and no exact one left where int8 was asked for."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import Input, Range, build_package, mb
from tests.mil.harness import few, floats, run, seeds
from twinvox.mil import quantize
from twinvox.mil.package import read_package
from twinvox.mil.translate import to_onnx

EXACT, ONE_ROW, ROWS = "Gemm", "MatMulNBits", "DynamicQuantizeMatMul"


def int8(function, x, rows=None):
    """The output of ``function`` and how often each node occurs; ``rows`` makes axis 0 flexible."""
    shape = x.shape if rows is None else (rows, *x.shape[1:])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "q.mlpackage"
        program = read_package(build_package(path, function, {"x": Input(shape, np.float32)}))
        nodes = Counter(node.op_type for node in to_onnx(program, precision="int8").graph.node)
        (result,) = run(program, {"x": x}, precision="int8").values()
        return result, nodes


def assert_close(result, expected, share):
    """Within ``share`` of the result's own root mean square, on average."""
    assert result.shape == expected.shape
    assert np.isfinite(result).all()
    error = np.sqrt(np.mean((result - expected) ** 2))
    assert 0 < error < share * np.sqrt(np.mean(expected**2))


@few
@given(
    lead=st.sampled_from([(1,), (1, 1, 1), (2, 3), (1, 4, 2), (300,)]),
    inner=st.sampled_from([64, 127, 128, 129, 300]),
    seed=seeds,
    biased=st.booleans(),
)
def test_linear(lead, inner, seed, biased):
    x, weight = floats((*lead, inner), seed), floats((96, inner), seed + 1)
    weight *= np.geomspace(0.1, 10, 96, dtype=np.float32)[:, None]
    weight[17] = 0
    bias = floats((96,), seed + 2) * 5 * biased
    parameters = {"bias": bias} if biased else {}
    result, nodes = int8(lambda x: mb.linear(x=x, weight=weight, **parameters), x)
    assert_close(result, x @ weight.T + bias, 0.02)
    np.testing.assert_allclose(result[..., 17], np.broadcast_to(bias[17], lead), atol=1e-5)
    assert nodes[ONE_ROW if np.prod(lead) == 1 else ROWS] == 1
    assert not nodes[EXACT]


@pytest.mark.parametrize("transpose_y", [False, True])
@pytest.mark.parametrize("lead", [(1, 1), (2, 3)])
def test_matmul(lead, transpose_y):
    x, weight = floats((*lead, 130), 1), floats((130, 70), 2)
    y = np.ascontiguousarray(weight.T) if transpose_y else weight
    result, nodes = int8(lambda x: mb.matmul(x=x, y=y, transpose_y=transpose_y), x)
    assert_close(result, x @ weight, 0.02)
    assert nodes[ONE_ROW] + nodes[ROWS] == 1


def test_each_block_of_one_row_has_its_own_scale():
    """A large value spoils its own block, not the whole column."""
    x, weight = floats((1, 2048), 1), floats((64, 2048), 2)
    weight[:, 0] = 3000
    x[0, 0] = 0
    result, _ = int8(lambda x: mb.linear(x=x, weight=weight), x)
    expected = x @ weight.T
    assert_close(result, expected, 0.3)
    rows, _ = int8(lambda x: mb.linear(x=x, weight=weight), np.repeat(x, 2, axis=0))
    assert np.abs(rows[0] - expected).max() > 2 * np.abs(result - expected).max()


def test_a_flexible_number_of_rows():
    weight = floats((80, 100), 2)
    for n in (1, 2, 9):
        x = floats((n, 100), n)
        result, nodes = int8(lambda x: mb.linear(x=x, weight=weight), x, Range(1, 9, 4))
        assert_close(result, x @ weight.T, 0.02)
        assert nodes[ROWS] == 1


@pytest.mark.parametrize(
    ("function", "width"),
    [
        (lambda x: mb.linear(x=x, weight=floats((40, 100), 1)), 100),
        (lambda x: mb.matmul(x=x, y=x, transpose_y=True), 100),
        (lambda x: mb.matmul(x=x, y=floats((2, 100, 64), 1)), 100),
    ],
    ids=["small", "no constant", "a stack of matrices"],
)
def test_what_stays_exact(function, width):
    _, nodes = int8(function, floats((2, 3, width), 1))
    assert not nodes[ONE_ROW] + nodes[ROWS]


def test_fp16_weights_are_quantised_too():
    x, weight = floats((3, 128), 1), floats((64, 128), 2).astype(np.float16)
    result, nodes = int8(
        lambda x: mb.cast(x=mb.linear(x=mb.cast(x=x, dtype="fp16"), weight=weight), dtype="fp32"),
        x,
    )
    assert_close(result, x @ weight.astype(np.float32).T, 0.02)
    assert nodes[ROWS] == 1


def test_an_unknown_precision_is_named():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "q.mlpackage"
        build_package(path, lambda x: mb.relu(x=x), {"x": Input((2,), np.float32)})
        with pytest.raises(ValueError, match=r"precision is 'int4'; expected one of fp32, fp16, i"):
            to_onnx(read_package(path), precision="int4")


def test_a_weight_used_again_is_quantized_once(monkeypatch):
    quantized = []
    quantize_one = quantize._quantize
    monkeypatch.setattr(
        quantize, "_quantize", lambda weight: quantized.append(1) or quantize_one(weight)
    )

    def function(x):
        weight = mb.const(val=floats((80, 80), 1))
        twice = mb.linear(x=mb.linear(x=x, weight=weight), weight=weight)
        return mb.matmul(x=twice, y=weight, transpose_y=True)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "q.mlpackage"
        program = read_package(build_package(path, function, {"x": Input((3, 80))}))
        model = to_onnx(program, precision="int8")
    assert Counter(node.op_type for node in model.graph.node)[ROWS] == 3
    assert len(quantized) == 1
