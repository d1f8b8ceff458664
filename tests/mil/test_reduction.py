import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, integers, seeds, shapes


def log_sum_exp(x, axis, keepdims):
    peak = np.max(x, axis=axis, keepdims=True)
    total = np.log(np.sum(np.exp(x - peak), axis=axis, keepdims=True)) + peak
    return total if keepdims else np.squeeze(total, axis)


REDUCTIONS = {
    "reduce_max": np.max,
    "reduce_mean": np.mean,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
    "reduce_sum": np.sum,
    "reduce_sum_square": lambda x, axis, keepdims: np.sum(x * x, axis=axis, keepdims=keepdims),
    "reduce_l1_norm": lambda x, axis, keepdims: np.sum(np.abs(x), axis=axis, keepdims=keepdims),
    "reduce_l2_norm": lambda x, axis, keepdims: np.sqrt(
        np.sum(x * x, axis=axis, keepdims=keepdims)
    ),
    "reduce_log_sum": lambda x, axis, keepdims: np.log(np.sum(x, axis=axis, keepdims=keepdims)),
    "reduce_log_sum_exp": log_sum_exp,
}
RANGES = {"reduce_prod": (1, 2), "reduce_log_sum": (1, 3), "reduce_log_sum_exp": (80, 150)}


@covers(*REDUCTIONS)
@pytest.mark.parametrize("kind", REDUCTIONS)
@few
@given(
    shape=shapes(1, 4, 3),
    seed=seeds,
    data=st.data(),
    keep=st.booleans(),
    integral=st.booleans(),
    flexible=st.booleans(),
)
def test_reduce(kind, shape, seed, data, keep, integral, flexible):
    rank = len(shape)
    axes = data.draw(st.sets(st.integers(0, rank - 1), min_size=1).map(tuple))
    signed = [axis - rank if data.draw(st.booleans()) else axis for axis in axes]
    parameters = {} if len(axes) == rank else {"axes": signed}
    low, high = RANGES.get(kind, (-3, 3))
    x = integers(shape, seed, low, high) if integral else floats(shape, seed, low, high)
    if kind == "reduce_prod" and integral:
        x = np.where(np.arange(x.size).reshape(shape) < 20, x, 1).astype(np.int32)
    expected = np.asarray(REDUCTIONS[kind](x, axis=axes, keepdims=keep)).astype(x.dtype)
    check(
        kind,
        lambda x: getattr(mb, kind)(x=x, keep_dims=keep, **parameters),
        {"x": x},
        expected,
        flexible=flexible,
        atol=1e-5,
    )


@pytest.mark.parametrize(
    ("kind", "expected"), [("reduce_mean", np.copy), ("reduce_sum_square", np.square)]
)
def test_reduce_over_no_axes(kind, expected):
    x, none = floats((2, 3), 1), np.array([], np.int32)
    check(kind, lambda x: getattr(mb, kind)(x=x, axes=none), {"x": x}, expected(x))


@covers("reduce_argmax", "reduce_argmin")
@pytest.mark.parametrize("kind", ["reduce_argmax", "reduce_argmin"])
@few
@given(
    shape=shapes(1, 4),
    seed=seeds,
    data=st.data(),
    keep=st.booleans(),
    integral=st.booleans(),
    flexible=st.booleans(),
)
def test_reduce_to_an_index(kind, shape, seed, data, keep, integral, flexible):
    rank = len(shape)
    axis = data.draw(st.integers(-rank, rank - 1))
    distinct = np.random.default_rng(seed).permutation(np.prod(shape)).reshape(shape)
    x = distinct.astype(np.int32 if integral else np.float32)
    find = np.argmax if kind == "reduce_argmax" else np.argmin
    expected = np.asarray(find(x, axis=axis, keepdims=keep)).astype(np.int32)
    check(
        kind,
        lambda x: getattr(mb, kind)(x=x, axis=axis, keep_dims=keep),
        {"x": x},
        expected,
        flexible=flexible,
    )
