import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from tests.reference import solver as reference
from twinvox._native.solver import anchor_euler_step


def padded(array, pitch):
    """The same values in rows that lie pitch elements apart, NaN between them."""
    rows, columns = array.shape
    store = np.full((rows, pitch), np.nan, array.dtype)
    store[:, :columns] = array
    return store[:, :columns]


@settings(deadline=None, max_examples=100)
@given(
    st.integers(0, 40),
    st.integers(0, 130),
    st.integers(0, 20),
    st.floats(0, 1),
    st.floats(0, 1),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_equals_the_reference(frames, n_mels, padding, t, t_next, last, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((frames, n_mels)).astype(np.float32)
    v = rng.standard_normal((frames, n_mels)).astype(np.float32)
    expected = reference.anchor_euler_step(x, v, t, t_next, last)
    anchor_euler_step(x, padded(v, n_mels + padding), t, t_next, last)
    np.testing.assert_allclose(x, expected, atol=3e-6)


def test_padding_does_not_change_a_bit():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1024, 100)).astype(np.float32)
    v = rng.standard_normal((1024, 100)).astype(np.float32)
    flat, strided = x.copy(), x.copy()
    anchor_euler_step(flat, v, 0.25, 0.5, False)
    anchor_euler_step(strided, padded(v, 112), 0.25, 0.5, False)
    np.testing.assert_array_equal(flat, strided)


X = np.zeros((4, 3), np.float32)


@pytest.mark.parametrize(
    ("x", "v", "error", "message"),
    [
        (X.astype(np.float64), X, TypeError, "x must be a float32 array, got float64 array"),
        (X, [[0.0] * 3] * 4, TypeError, "v must be a float32 array, got list"),
        (X, np.zeros((4, 2), np.float32), ValueError, r"one shape, got \[4, 3\] and \[4, 2\]"),
        (X, np.zeros(12, np.float32), ValueError, "v must have 2 axes"),
        (np.zeros((8, 3), np.float32)[::2], X, ValueError, "C-contiguous and writable"),
        (X, np.zeros((3, 4), np.float32).T, ValueError, "contiguous rows.*rows.compact"),
        (X, X[::-1], ValueError, "one after another.*rows.compact"),
        (X, np.broadcast_to(X[:1], (4, 3)), ValueError, "one after another.*rows.compact"),
    ],
)
def test_bad_arguments(x, v, error, message):
    with pytest.raises(error, match=message):
        anchor_euler_step(x, v, 0.0, 1.0, False)


def test_a_read_only_x_is_refused():
    x = X.copy()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="C-contiguous and writable"):
        anchor_euler_step(x, X, 0.0, 1.0, False)


def test_threads_agree():
    rng = np.random.default_rng(1)
    start = rng.standard_normal((1024, 100)).astype(np.float32)
    v = rng.standard_normal((1024, 100)).astype(np.float32)

    def run(_):
        x = start.copy()
        for step in range(20):
            anchor_euler_step(x, v, step / 20, (step + 1) / 20, step == 19)
        return x

    results = in_threads(run)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
