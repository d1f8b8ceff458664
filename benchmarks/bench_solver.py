"""One anchor-Euler step of 1,024 frames, read from rows padded to 112, beside NumPy."""

import numpy as np
import pytest

from twinvox._native.solver import anchor_euler_step

T, T_NEXT = np.float32(0.25), np.float32(0.5)

pytestmark = pytest.mark.benchmark(group="anchor-Euler step, 1024 x 100, pitch 112")


@pytest.fixture
def x():
    return np.zeros((1024, 100), np.float32)


@pytest.fixture
def v():
    return np.random.default_rng(0).random((1024, 112), np.float32)[:, :100]


def test_twinvox(benchmark, x, v):
    benchmark(anchor_euler_step, x, v, T, T_NEXT, False)


def test_numpy_fused(benchmark, x, v):
    """The same arithmetic into buffers made beforehand."""
    x0, x1 = np.empty_like(x), np.empty_like(x)

    def step():
        np.multiply(v, 1 - T, out=x1)
        np.add(x, x1, out=x1)
        np.multiply(v, T, out=x0)
        np.subtract(x, x0, out=x0)
        np.multiply(x0, 1 - T_NEXT, out=x0)
        np.multiply(x1, T_NEXT, out=x1)
        np.add(x0, x1, out=x)

    benchmark(step)


def test_numpy_plain_euler(benchmark, x, v):
    """x + (t_next - t) v: less work, equal but for rounding."""
    step_v = np.empty_like(x)

    def step():
        np.multiply(v, T_NEXT - T, out=step_v)
        np.add(x, step_v, out=x)

    benchmark(step)


def test_numpy_naive(benchmark, x, v):
    def step():
        x1 = x + (1 - T) * v
        x0 = x - T * v
        x[...] = (1 - T_NEXT) * x0 + T_NEXT * x1

    benchmark(step)
