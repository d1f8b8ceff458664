"""A Core ML model that is computed in NumPy, and its inputs and outputs."""

import numpy as np

from tests.fake_coreml import Feature, Toy

SHAPE = (2, 3, 100)


def combine(inputs):
    """Two outputs of other layouts than the inputs; every element counts."""
    x, y = inputs["x"], inputs["y"]
    return {"total": x + y, "back": np.ascontiguousarray(x[..., ::-1])}


def toy(dtype="float32"):
    x, y, total, back = (Feature(name, SHAPE, dtype) for name in ("x", "y", "total", "back"))
    return Toy([x, y], [total, back], combine)


def arrays(dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.integers(-99, 99, SHAPE).astype(dtype) for name in "xy"}


def buffers(dtype="float32"):
    return {name: np.full(SHAPE, -1, dtype) for name in ("total", "back")}


def check(results, inputs):
    expected = combine(inputs)
    assert results.keys() == expected.keys()
    for name, result in results.items():
        np.testing.assert_array_equal(result, expected[name], strict=True)
