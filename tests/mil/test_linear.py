import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, seeds, shapes


@covers("linear")
@few
@given(shape=shapes(1, 3), out=st.integers(1, 5), seed=seeds, biased=st.booleans())
def test_linear(shape, out, seed, biased):
    x, weight = floats(shape, seed), floats((out, shape[-1]), seed + 1)
    bias = floats((out,), seed + 2) * biased
    parameters = {"bias": bias} if biased else {}
    check(
        "linear",
        lambda x: mb.linear(x=x, weight=weight, **parameters),
        {"x": x},
        x @ weight.T + bias,
        atol=1e-5,
    )


@covers("matmul")
@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize("transpose_y", [False, True])
@few
@given(batch=shapes(0, 2, 3), sizes=st.tuples(*[st.integers(1, 4)] * 3), seed=seeds, data=st.data())
def test_matmul(transpose_x, transpose_y, batch, sizes, seed, data):
    rows, inner, columns = sizes
    fewer = tuple(size if data.draw(st.booleans()) else 1 for size in batch)
    x = floats((*batch, rows, inner), seed)
    y = floats((*fewer, inner, columns), seed + 1)
    expected = x @ y
    check(
        "matmul",
        lambda x, y: mb.matmul(x=x, y=y, transpose_x=transpose_x, transpose_y=transpose_y),
        {
            "x": np.ascontiguousarray(x.swapaxes(-1, -2)) if transpose_x else x,
            "y": np.ascontiguousarray(y.swapaxes(-1, -2)) if transpose_y else y,
        },
        expected,
        flexible=data.draw(st.booleans()),
        atol=1e-5,
    )


def test_matmul_with_a_constant_and_a_vector():
    weight = floats((4, 3), 1)
    x = floats((2, 3, 4), 2)
    check("matmul", lambda x: mb.matmul(x=x, y=weight), {"x": x}, x @ weight, atol=1e-5)
    vector = floats((4,), 3)
    check("matmul", lambda x: mb.matmul(x=x, y=weight), {"x": vector}, vector @ weight, atol=1e-5)


def test_matmul_of_integers_with_a_constant_of_floats():
    x, y = np.arange(6, dtype=np.int32).reshape(2, 3), np.float32([[2], [-1], [3]])
    whole = y.astype(np.int32)
    check("matmul", lambda x: mb.matmul(x=x, y=y), {"x": x}, x @ whole)
    check("matmul", lambda x: mb.matmul(x=y.T, y=x, transpose_y=True), {"x": x}, whole.T @ x.T)


@covers("einsum")
@pytest.mark.parametrize("equation", ["nchw,nwhu->nchu", "chw,whr->chr"])
@few
@given(sizes=st.tuples(*[st.integers(1, 4)] * 5), seed=seeds)
def test_einsum(equation, sizes, seed):
    batch, channels, heads, inner, columns = sizes
    lead = (batch,) if equation.startswith("n") else ()
    x = floats((*lead, channels, heads, inner), seed)
    y = floats((*lead, inner, heads, columns), seed + 1)
    check(
        "einsum",
        lambda x, y: mb.einsum(values=(x, y), equation=equation),
        {"x": x, "y": y},
        np.einsum(equation, x, y),
        atol=1e-5,
    )
