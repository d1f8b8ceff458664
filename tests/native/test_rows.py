import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from tests.reference import rows as reference
from twinvox._native.rows import compact, spread, to_float16, to_float32

dtypes = st.sampled_from([np.float32, np.float16, np.int32])


@st.composite
def strided_arrays(draw):
    """Views of any rank up to 4: padded, stepped, reversed and transposed."""
    shape = draw(st.lists(st.integers(0, 5), max_size=4))
    steps = [draw(st.sampled_from([1, 2, -1])) for _ in shape]
    padding = [draw(st.integers(0, 3)) for _ in shape]
    room = tuple(
        n * abs(step) + extra for n, step, extra in zip(shape, steps, padding, strict=True)
    )
    array = np.arange(int(np.prod(room)), dtype=np.int64).reshape(room).astype(draw(dtypes))
    array = array[tuple(slice(0, n * abs(step)) for n, step in zip(shape, steps, strict=True))]
    array = array[tuple(slice(None, None, step) for step in steps)]
    return array.transpose(draw(st.permutations(range(array.ndim))))


@settings(deadline=None, max_examples=300)
@given(strided_arrays())
def test_compact_equals_the_reference(src):
    out = compact(src)
    assert out.flags.c_contiguous
    assert out.dtype == src.dtype
    np.testing.assert_array_equal(out, reference.compact(src), strict=True)


def test_compact_into_out():
    src = np.arange(24, dtype=np.float32).reshape(2, 12)[:, :10]
    out = np.empty((2, 10), np.float32)
    assert compact(src, out) is out
    np.testing.assert_array_equal(out, src)


def test_compact_reads_broadcast_arrays():
    src = np.broadcast_to(np.arange(3, dtype=np.int32)[:, None], (2, 3, 4))
    np.testing.assert_array_equal(compact(src), src)


F32 = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ("src", "out", "error", "message"),
    [
        ([1.0], None, TypeError, "src must be a float32 or float16 or int32 array, got list"),
        (F32.astype(np.float64), None, TypeError, "got float64 array: convert it with astype"),
        (F32.astype(np.int64), None, TypeError, "got int64 array"),
        (F32.astype(">f4"), None, TypeError, "got >f4|got float32 array"),
        (F32, F32.astype(np.float16), TypeError, "out must be a float32 array"),
        (F32, np.zeros((3, 2), np.float32), ValueError, r"shape \[2, 3\], got \[3, 2\]"),
        (F32, np.zeros(6, np.float32), ValueError, "out must have 2 axes"),
        (F32, np.zeros((3, 2), np.float32).T, ValueError, "C-contiguous and writable"),
        (np.zeros((1,) * 9, np.float32), None, ValueError, "at most 8 axes, got 9"),
    ],
)
def test_compact_bad_arguments(src, out, error, message):
    with pytest.raises(error, match=message):
        compact(src, out)


@st.composite
def spreads(draw):
    n_tokens = draw(st.integers(1, 30))
    n_frames = draw(st.integers(n_tokens, 100))
    return n_tokens, n_frames, draw(st.integers(n_frames, 120))


@settings(deadline=None, max_examples=100)
@given(spreads(), st.integers(0, 9), st.integers(0, 3), st.integers(0, 3))
def test_spread_equals_the_reference(sizes, channels, padding, spare_rows):
    n_tokens, n_frames, max_frames = sizes
    store = np.random.default_rng(0).random(
        (n_tokens + 1 + spare_rows, channels + padding), np.float32
    )
    token_embeds = store[:, :channels]
    out = np.full((max_frames, channels), np.nan, np.float32)
    spread(token_embeds, n_tokens, n_frames, out)
    expected = reference.spread(token_embeds, n_tokens, n_frames, max_frames)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("n_tokens", "n_frames", "message"),
    [
        (0, 3, r"n_tokens must be in 1\.\.4"),
        (5, 6, "pad slot"),
        (-1, 3, "got -1"),
        (4, 3, r"n_frames must be in 4\.\.10, got 3"),
        (4, 11, "got 11"),
    ],
)
def test_spread_bad_counts(n_tokens, n_frames, message):
    with pytest.raises(ValueError, match=message):
        spread(np.zeros((5, 2), np.float32), n_tokens, n_frames, np.zeros((10, 2), np.float32))


def test_spread_needs_equal_channels():
    with pytest.raises(ValueError, match=r"2 channels, got shape \[10, 3\]"):
        spread(np.zeros((5, 2), np.float32), 1, 2, np.zeros((10, 3), np.float32))


def test_every_half_survives():
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    floats = to_float32(halves)
    np.testing.assert_array_equal(floats, halves.astype(np.float32))
    back = to_float16(floats)
    number = ~np.isnan(halves)
    np.testing.assert_array_equal(back[number].view(np.uint16), halves[number].view(np.uint16))
    assert np.isnan(back[~number]).all()


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(width=32), max_size=40))
def test_to_float16_rounds_as_numpy(values):
    floats = np.array(values, np.float32)
    with np.errstate(over="ignore"):
        expected = floats.astype(np.float16)
    np.testing.assert_array_equal(to_float16(floats), expected, strict=True)


def test_conversion_shapes_and_errors():
    assert to_float16(np.zeros((2, 0, 3), np.float32)).shape == (2, 0, 3)
    assert to_float32(np.zeros((), np.float16)).shape == ()
    with pytest.raises(TypeError, match="src must be a float16 array, got float32 array"):
        to_float32(F32)
    with pytest.raises(ValueError, match=r"pass rows\.compact of it"):
        to_float16(F32[:, ::2])


def test_threads_agree():
    src = np.random.default_rng(0).random((512, 112), np.float32)[:, :100]
    expected = np.ascontiguousarray(src)

    def run(_):
        return [to_float32(to_float16(compact(src))) for _ in range(20)]

    for results in in_threads(run):
        for result in results:
            np.testing.assert_array_equal(result, expected.astype(np.float16))
