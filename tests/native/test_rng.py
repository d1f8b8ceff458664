import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from tests.reference import rng as reference
from twinvox._native.rng import Rng, derive_seed

seeds = st.integers(0, 2**64 - 1)

PINNED_GAUSSIAN = [3180297513, 1059265225, 3209859076, 1067607659, 1043358907, 1029227425]
PINNED_UNIFORM = [1060339103, 1061888796, 1058442655, 1040211040]
PINNED_SEEDS = [6332618229526065668, 17630415256238047317]


@settings(deadline=None, max_examples=50)
@given(seeds, st.integers(0, 700))
def test_samples_equal_the_reference(seed, n):
    ours, theirs = Rng(seed), reference.Rng(seed)
    np.testing.assert_array_equal(ours.uniform(n), np.array(theirs.uniform(n), np.float32))
    np.testing.assert_allclose(ours.gaussian(n), theirs.gaussian(n), atol=2e-6, rtol=0)


@given(seeds, seeds)
def test_derived_seeds_equal_the_reference(seed, index):
    assert derive_seed(seed, index) == reference.derive_seed(seed, index)


def test_pinned_bits():
    """The same on every platform and in every release: saved seeds must keep their voices."""
    rng = Rng(42)
    assert rng.gaussian(6).view(np.uint32).tolist() == PINNED_GAUSSIAN
    assert rng.uniform(4).view(np.uint32).tolist() == PINNED_UNIFORM
    assert [derive_seed(42, i) for i in range(2)] == PINNED_SEEDS


def test_a_million_normals_are_normal():
    x = Rng(1).gaussian(1_000_000).astype(np.float64)
    assert abs(x.mean()) < 0.004
    assert abs(x.var() - 1) < 0.006
    assert abs((x**3).mean()) < 0.015
    assert abs((x**4).mean() - 3) < 0.05
    assert 4.5 < np.abs(x).max() < 6.7
    within = [np.mean(np.abs(x) < k) for k in (1, 2, 3)]
    np.testing.assert_allclose(within, [0.682689, 0.954500, 0.997300], atol=0.002)
    for lag in (1, 2, 3):
        assert abs(np.mean(x[:-lag] * x[lag:])) < 0.005


def test_shapes_and_split_calls():
    whole = Rng(7).gaussian((30, 10))
    assert whole.shape == (30, 10)
    assert whole.dtype == np.float32
    parts = Rng(7)
    np.testing.assert_array_equal(
        np.concatenate([parts.gaussian(122), parts.gaussian(178)]), whole.ravel()
    )
    assert Rng(7).uniform(()).shape == ()
    assert Rng(7).uniform((4, 0)).shape == (4, 0)


def test_different_seeds_differ():
    firsts = {Rng(derive_seed(seed, i)).uniform(1).item() for seed in range(20) for i in range(20)}
    assert len(firsts) == 400


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match=r"seed must be in \[0, 2\*\*64\)"):
        Rng(seed)
    with pytest.raises(ValueError, match="index must be in"):
        derive_seed(0, seed)


def test_a_seed_of_another_type_is_refused():
    with pytest.raises(TypeError, match="seed must be an int, got float"):
        Rng(1.0)


def test_threads_with_their_own_rng_agree():
    results = in_threads(lambda i: Rng(5).gaussian(50_001))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
