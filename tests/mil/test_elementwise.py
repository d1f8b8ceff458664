import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, integers, seeds, shapes

# kind -> (NumPy's function, lowest, highest argument)
UNARY = {
    "abs": (np.abs, -3, 3),
    "acos": (np.arccos, -0.99, 0.99),
    "asin": (np.arcsin, -0.99, 0.99),
    "atan": (np.arctan, -3, 3),
    "atanh": (np.arctanh, -0.99, 0.99),
    "ceil": (np.ceil, -9, 9),
    "cos": (np.cos, -9, 9),
    "cosh": (np.cosh, -3, 3),
    "erf": (np.vectorize(math.erf, otypes=[np.float32]), -3, 3),
    "exp": (np.exp, -9, 9),
    "exp2": (np.exp2, -9, 9),
    "floor": (np.floor, -9, 9),
    "round": (np.round, -9, 9),
    "sign": (np.sign, -1, 1),
    "sin": (np.sin, -9, 9),
    "sinh": (np.sinh, -3, 3),
    "sqrt": (np.sqrt, 0, 9),
    "square": (np.square, -3, 3),
    "tan": (np.tan, -1.5, 1.5),
}
WITH_INTEGERS = {"abs": np.abs, "sign": np.sign, "square": np.square}
WITH_EPSILON = {
    "inverse": lambda x, e: 1 / (x + e),
    "log": lambda x, e: np.log(x + e),
    "rsqrt": lambda x, e: 1 / np.sqrt(x + e),
}
BINARY = {
    "add": np.add,
    "floor_div": np.floor_divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "mod": np.mod,
    "mul": np.multiply,
    "real_div": np.divide,
    "sub": np.subtract,
}
COMPARISON = {
    "equal": np.equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "not_equal": np.not_equal,
}
LOGICAL = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


@covers(*UNARY)
@pytest.mark.parametrize("kind", UNARY)
@few
@given(shape=shapes(), seed=seeds, flexible=st.booleans())
def test_unary(kind, shape, seed, flexible):
    numpy_function, low, high = UNARY[kind]
    x = floats(shape, seed, low, high)
    function = getattr(mb, kind)
    expected = numpy_function(x).astype(np.float32)
    check(kind, lambda x: function(x=x), {"x": x}, expected, flexible=flexible)


def test_round_is_to_even():
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], np.float32)
    check("round", lambda x: mb.round(x=x), {"x": x}, np.round(x))


@pytest.mark.parametrize("kind", WITH_INTEGERS)
def test_unary_with_integers(kind):
    x = integers((2, 5), 3)
    function = getattr(mb, kind)
    check(kind, lambda x: function(x=x), {"x": x}, WITH_INTEGERS[kind](x))


@covers(*WITH_EPSILON)
@pytest.mark.parametrize("kind", WITH_EPSILON)
@few
@given(shape=shapes(), seed=seeds, epsilon=st.sampled_from([1.0, 1e-3, 1e-12, 1e-45]))
def test_with_epsilon(kind, shape, seed, epsilon):
    x = floats(shape, seed, 1e-3, 3)
    function = getattr(mb, kind)
    expected = WITH_EPSILON[kind](x, np.float32(epsilon))
    check(kind, lambda x: function(x=x, epsilon=epsilon), {"x": x}, expected)


def test_log_of_zero_is_finite_under_its_epsilon():
    x = np.zeros(3, np.float32)
    expected = np.log(x + np.float32(1e-45))
    check("log", lambda x: mb.log(x=x, epsilon=1e-45), {"x": x}, expected)


@covers("clip", "threshold")
@few
@given(
    shape=shapes(),
    seed=seeds,
    low=st.sampled_from([-math.inf, -3.4028235e38, -1.0, 0.0]),
    high=st.sampled_from([math.inf, 3.4028235e38, 1.0, 0.5]),
)
def test_clip(shape, seed, low, high):
    x = floats(shape, seed)
    low32, high32 = np.float32(low), np.float32(high)
    check("clip", lambda x: mb.clip(x=x, alpha=low32, beta=high32), {"x": x}, x.clip(low32, high32))
    check("threshold", lambda x: mb.threshold(x=x, alpha=low32), {"x": x}, np.maximum(x, low32))


@covers("logical_not")
def test_logical_not():
    x = integers((3, 4), 5)
    check("logical_not", lambda x: positive_not(x), {"x": x}, (x <= 0).astype(np.int32))


def positive_not(x):
    return mb.cast(x=mb.logical_not(x=mb.greater(x=x, y=0)), dtype="int32")


CASTS = {
    ("fp32", "int32"): lambda x: np.trunc(x).astype(np.int32),
    ("fp32", "bool"): lambda x: (x != 0).astype(np.int32),
    ("fp32", "int8"): lambda x: np.trunc(x).astype(np.int8).astype(np.int32),
    ("int32", "fp32"): lambda x: x.astype(np.float32),
    ("int32", "bool"): lambda x: (x != 0).astype(np.int32),
    ("int32", "int16"): lambda x: x.astype(np.int16).astype(np.int32),
    ("int32", "uint16"): lambda x: x.astype(np.uint16).astype(np.int32),
    ("int32", "uint8"): lambda x: x.astype(np.uint8).astype(np.int32),
}


@covers("cast")
@pytest.mark.parametrize(("source", "target"), CASTS)
def test_cast(source, target):
    if source == "fp32":
        x = np.array([-100.9, -1.5, -0.2, 0, 0.7, 1, 99.9], np.float32)
    else:
        x = np.array([-70000, -300, -1, 0, 1, 255, 256, 40000, 70000], np.int32)

    def function(x):
        narrow = mb.cast(x=x, dtype=target)
        return narrow if target in ("int32", "fp32") else mb.cast(x=narrow, dtype="int32")

    check("cast", function, {"x": x}, CASTS[source, target](x))


def pair(shape, seed, data, draw=floats):
    """Two arrays that broadcast: the second has some sizes of 1 and may lack leading axes."""
    small = [size if data.draw(st.booleans()) else 1 for size in shape]
    small = small[data.draw(st.integers(0, len(small) - 1)) :]
    return draw(shape, seed), draw(small, seed + 1)


@covers(*BINARY)
@pytest.mark.parametrize("kind", BINARY)
@few
@given(shape=shapes(), seed=seeds, data=st.data())
def test_binary(kind, shape, seed, data):
    x, y = pair(shape, seed, data)
    function = getattr(mb, kind)
    check(kind, lambda x, y: function(x=x, y=y), {"x": x, "y": y}, BINARY[kind](x, y), atol=2e-6)


@pytest.mark.parametrize("kind", ["add", "floor_div", "maximum", "minimum", "mod", "mul", "sub"])
@few
@given(shape=shapes(), seed=seeds, data=st.data())
def test_binary_with_integers(kind, shape, seed, data):
    x, y = pair(shape, seed, data, integers)
    y[y == 0] = -4
    function = getattr(mb, kind)
    check(kind, lambda x, y: function(x=x, y=y), {"x": x, "y": y}, BINARY[kind](x, y))


@pytest.mark.parametrize("kind", ["floor_div", "mod"])
def test_division_rounded_down_is_exact(kind):
    """Also where the quotient in float32 is not, as of 1 by the float32 next to 0.1."""
    x, y = np.meshgrid(
        np.float32([1, -1, 0.3, 7, 1e6, -1e6, 12345.678, 0, -1e-45, np.nan]),
        np.float32([0.1, -0.1, 3, 7e-3, -0.5, 1e9, np.inf, -np.inf]),
    )
    function = getattr(mb, kind)
    with np.errstate(invalid="ignore"):
        expected = BINARY[kind](x, y)
    check(kind, lambda x, y: function(x=x, y=y), {"x": x, "y": y}, expected, rtol=1e-6, atol=0)


@covers("pow")
@few
@given(shape=shapes(), seed=seeds, exponent=st.sampled_from([0.5, 2.0, -1.0, 3.0]))
def test_pow(shape, seed, exponent):
    x = floats(shape, seed, 0.1, 3)
    check("pow", lambda x: mb.pow(x=x, y=exponent), {"x": x}, x ** np.float32(exponent))


@covers(*COMPARISON)
@pytest.mark.parametrize("kind", COMPARISON)
@few
@given(shape=shapes(), seed=seeds, data=st.data(), whole=st.booleans())
def test_comparison(kind, shape, seed, data, whole):
    x, y = pair(shape, seed, data, integers)
    if not whole:
        x, y = x.astype(np.float32), y.astype(np.float32)
    function = getattr(mb, kind)
    expected = COMPARISON[kind](x, y).astype(np.int32)
    check(
        kind,
        lambda x, y: mb.cast(x=function(x=x, y=y), dtype="int32"),
        {"x": x, "y": y},
        expected,
    )


@covers(*LOGICAL)
@pytest.mark.parametrize("kind", LOGICAL)
def test_logical(kind):
    x, y = integers((4, 5), 1), integers((5,), 2)
    function = getattr(mb, kind)

    def positive(x, y):
        both = function(x=mb.greater(x=x, y=0), y=mb.greater(x=y, y=0))
        return mb.cast(x=both, dtype="int32")

    check(kind, positive, {"x": x, "y": y}, LOGICAL[kind](x > 0, y > 0).astype(np.int32))


@covers("select")
@few
@given(shape=shapes(), seed=seeds, flexible=st.booleans())
def test_select(shape, seed, flexible):
    x, a, b = (floats(shape, seed + i) for i in range(3))
    check(
        "select",
        lambda x, a, b: mb.select(cond=mb.greater(x=x, y=0.0), a=a, b=b),
        {"x": x, "a": a, "b": b},
        np.where(x > 0, a, b),
        flexible=flexible,
    )


def test_select_between_booleans():
    x, y = integers((4, 5), 1), integers((4, 5), 2)

    def function(x, y):
        chosen = mb.select(cond=mb.less(x=x, y=y), a=mb.equal(x=x, y=3), b=mb.greater(x=y, y=0))
        return mb.cast(x=chosen, dtype="int32")

    expected = np.where(x < y, x == 3, y > 0).astype(np.int32)
    check("select", function, {"x": x, "y": y}, expected)
