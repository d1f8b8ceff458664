import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from twinvox._native.gather import gather

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)
IDS = np.array([3, 0, 3], np.int32)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from([np.float16, np.float32]),
    st.integers(1, 30),
    st.integers(0, 70),
    st.lists(st.integers(0, 29), max_size=40),
    st.integers(0, 2**32 - 1),
)
def test_rows_equal_numpy(dtype, n_rows, channels, ids, seed):
    table = np.random.default_rng(seed).standard_normal((n_rows, channels)).astype(dtype)
    chosen = np.array(ids, np.int32) % n_rows
    out = np.full((len(ids), channels), np.nan, np.float32)
    gather(table, chosen, out)
    np.testing.assert_array_equal(out, table[chosen].astype(np.float32))


def test_into_a_part_of_a_larger_array():
    embeds = np.full((1, 8, 3), -1, np.float32)
    gather(TABLE, IDS, embeds[0, 2:5])
    np.testing.assert_array_equal(embeds[0, 2:5], TABLE[IDS])
    assert (embeds[0, :2] == -1).all()
    assert (embeds[0, 5:] == -1).all()


@pytest.mark.parametrize("bad", [-1, 4, 2**31 - 1, -(2**31)])
def test_an_id_without_a_row_writes_nothing(bad):
    out = np.full((3, 3), -1, np.float32)
    with pytest.raises(IndexError, match=rf"ids\[2\] is {bad}, the table has 4 rows"):
        gather(TABLE, np.array([0, 1, bad], np.int32), out)
    assert (out == -1).all()


OUT = np.zeros((3, 3), np.float32)


@pytest.mark.parametrize(
    ("table", "ids", "out", "error", "message"),
    [
        (TABLE.astype(np.float64), IDS, OUT, TypeError, "table must be a float16 or float32 array"),
        (TABLE, IDS.astype(np.int64), OUT, TypeError, "ids must be a int32 array, got int64 array"),
        (TABLE, IDS, OUT.astype(np.float16), TypeError, "out must be a float32 array"),
        (TABLE[0], IDS, OUT, ValueError, "table must have 2 axes"),
        (TABLE[:, ::2], IDS, OUT[:, :2].copy(), ValueError, "table must be C-contiguous"),
        (TABLE, np.zeros(6, np.int32)[::2], OUT, ValueError, "ids must be contiguous"),
        (TABLE, IDS, OUT[:2], ValueError, r"out must be \[3, 3\], got \[2, 3\]"),
        (TABLE, IDS, np.zeros((3, 4), np.float32), ValueError, r"out must be \[3, 3\]"),
        (TABLE, IDS, np.zeros((3, 6), np.float32)[:, ::2], ValueError, "C-contiguous and writable"),
    ],
)
def test_bad_arguments(table, ids, out, error, message):
    with pytest.raises(error, match=message):
        gather(table, ids, out)


def test_threads_agree():
    table = np.random.default_rng(0).standard_normal((500, 96)).astype(np.float16)
    ids = np.random.default_rng(1).integers(0, 500, 250).astype(np.int32)

    def run(_):
        out = np.empty((250, 96), np.float32)
        for _ in range(20):
            gather(table, ids, out)
        return out

    for result in in_threads(run):
        np.testing.assert_array_equal(result, table[ids])
