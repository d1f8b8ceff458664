import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, seeds, shapes


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


PLAIN = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
}
WITH_ALPHA = {
    "elu": lambda x, a: np.where(x > 0, x, a * np.expm1(x)),
    "leaky_relu": lambda x, a: np.where(x > 0, x, a * x),
    "thresholded_relu": lambda x, a: np.where(x >= a, x, 0),
}
WITH_ALPHA_AND_BETA = {
    "clamped_relu": lambda x, a, b: np.minimum(np.where(x >= 0, x, a * x), b),
    "linear_activation": lambda x, a, b: a * x + b,
    "scaled_tanh": lambda x, a, b: a * np.tanh(b * x),
    "sigmoid_hard": lambda x, a, b: np.clip(a * x + b, 0, 1),
}
PER_CHANNEL = {
    "prelu": lambda x, a, b: np.where(x > 0, x, a * x),
    "softplus_parametric": lambda x, a, b: a * np.log1p(np.exp(b * x)),
}
GELU = {
    "EXACT": lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "TANH_APPROXIMATION": lambda x: (
        0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    "SIGMOID_APPROXIMATION": lambda x: x * sigmoid(1.702 * x),
}
factors = st.sampled_from([0.05, 0.3, 0.75, 1.5])


@covers(*PLAIN)
@pytest.mark.parametrize("kind", PLAIN)
@few
@given(shape=shapes(), seed=seeds, flexible=st.booleans())
def test_plain(kind, shape, seed, flexible):
    x = floats(shape, seed, -8, 8)
    function = getattr(mb, kind)
    check(kind, lambda x: function(x=x), {"x": x}, PLAIN[kind](x), flexible=flexible)


@covers(*WITH_ALPHA)
@pytest.mark.parametrize("kind", WITH_ALPHA)
@few
@given(shape=shapes(), seed=seeds, alpha=factors)
def test_with_alpha(kind, shape, seed, alpha):
    x = floats(shape, seed)
    function = getattr(mb, kind)
    expected = WITH_ALPHA[kind](x, np.float32(alpha))
    check(kind, lambda x: function(x=x, alpha=alpha), {"x": x}, expected)


@covers(*WITH_ALPHA_AND_BETA)
@pytest.mark.parametrize("kind", WITH_ALPHA_AND_BETA)
@few
@given(shape=shapes(), seed=seeds, alpha=factors, beta=factors)
def test_with_alpha_and_beta(kind, shape, seed, alpha, beta):
    x = floats(shape, seed)
    function = getattr(mb, kind)
    expected = WITH_ALPHA_AND_BETA[kind](x, np.float32(alpha), np.float32(beta))
    check(kind, lambda x: function(x=x, alpha=alpha, beta=beta), {"x": x}, expected)


@covers(*PER_CHANNEL)
@pytest.mark.parametrize("kind", PER_CHANNEL)
@few
@given(shape=shapes(4, 4), seed=seeds)
def test_per_channel(kind, shape, seed):
    x = floats(shape, seed)
    alpha, beta = floats((2, shape[1]), seed + 1, 0.1, 1)
    parameters = {"alpha": alpha} if kind == "prelu" else {"alpha": alpha, "beta": beta}
    function = getattr(mb, kind)
    wide = PER_CHANNEL[kind](x, alpha[:, None, None], beta[:, None, None])
    check(kind, lambda x: function(x=x, **parameters), {"x": x}, wide)


@covers("gelu")
@pytest.mark.parametrize("mode", GELU)
@few
@given(shape=shapes(), seed=seeds)
def test_gelu(mode, shape, seed):
    x = floats(shape, seed)
    expected = GELU[mode](x).astype(np.float32)
    check("gelu", lambda x: mb.gelu(x=x, mode=mode), {"x": x}, expected)


@covers("softmax")
@few
@given(shape=shapes(), seed=seeds, data=st.data())
def test_softmax(shape, seed, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = floats(shape, seed, -20, 20)
    powers = np.exp(x - x.max(axis, keepdims=True))
    expected = powers / powers.sum(axis, keepdims=True)
    check("softmax", lambda x: mb.softmax(x=x, axis=axis), {"x": x}, expected)
