"""Random numbers for 1,024 frames of 100 mels beside NumPy's generator."""

import numpy as np
import pytest

from twinvox._native.rng import Rng

SHAPE = (1024, 100)


@pytest.mark.benchmark(group="102,400 normals")
class TestGaussian:
    def test_twinvox(self, benchmark):
        benchmark(Rng(0).gaussian, SHAPE)

    def test_numpy(self, benchmark):
        benchmark(np.random.default_rng(0).standard_normal, SHAPE, np.float32)


@pytest.mark.benchmark(group="102,400 uniforms")
class TestUniform:
    def test_twinvox(self, benchmark):
        benchmark(Rng(0).uniform, SHAPE)

    def test_numpy(self, benchmark):
        benchmark(np.random.default_rng(0).random, SHAPE, np.float32)
