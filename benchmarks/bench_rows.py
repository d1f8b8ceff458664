"""Row movements of a 1,024-frame model beside NumPy."""

import numpy as np
import pytest

from twinvox._native.rows import compact, spread, to_float16, to_float32

N_TOKENS, N_FRAMES = 165, 838


@pytest.fixture
def padded():
    return np.random.default_rng(0).random((1024, 112), np.float32)[:, :100]


@pytest.fixture
def out():
    return np.zeros((1024, 100), np.float32)


@pytest.mark.benchmark(group="compact 1024 x 100, pitch 112")
class TestCompact:
    def test_twinvox(self, benchmark, padded, out):
        benchmark(compact, padded, out)

    def test_numpy(self, benchmark, padded, out):
        benchmark(np.copyto, out, padded)


@pytest.mark.benchmark(group="spread 165 tokens over 838 of 1024 frames")
class TestSpread:
    def test_twinvox(self, benchmark, padded, out):
        benchmark(spread, padded[:256], N_TOKENS, N_FRAMES, out)

    def test_numpy(self, benchmark, padded, out):
        def gather():
            index = np.minimum(np.arange(N_FRAMES) // (N_FRAMES // N_TOKENS), N_TOKENS)
            np.take(padded[:256], index, axis=0, out=out[:N_FRAMES], mode="clip")
            out[N_FRAMES:] = 0

        benchmark(gather)


@pytest.mark.benchmark(group="float16 to float32, 1024 x 100")
class TestWiden:
    def test_twinvox(self, benchmark, out):
        benchmark(to_float32, out.astype(np.float16))

    def test_numpy(self, benchmark, out):
        benchmark(out.astype(np.float16).astype, np.float32)


@pytest.mark.benchmark(group="float32 to float16, 1024 x 100")
class TestNarrow:
    def test_twinvox(self, benchmark, out):
        benchmark(to_float16, out)

    def test_numpy(self, benchmark, out):
        benchmark(out.astype, np.float16)
