import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, integers, seeds, shapes


@st.composite
def windows(draw, shape):
    """(begin, end, stride, begin_mask, end_mask, squeeze_mask) with no empty axis."""
    columns = []
    for size in shape:
        first = draw(st.integers(0, size - 1))
        last = draw(st.integers(first, size - 1))
        step = draw(st.sampled_from([1, 1, 2, -1]))
        begin, end = (first, last + 1) if step > 0 else (last, first - 1)
        masks = [draw(st.booleans()), draw(st.booleans()), draw(st.integers(0, 3)) == 0]
        if end < 0:
            masks[1] = True  # -1 would count from the end
        if draw(st.booleans()) and begin > 0:
            begin -= size
        columns.append((begin, end, step, *masks))
    return [list(column) for column in zip(*columns, strict=True)]


def numpy_slices(begin, end, stride, begin_mask, end_mask, squeeze_mask):
    return tuple(
        (0 if bm else b) if q else slice(None if bm else b, None if em else e, s)
        for b, e, s, bm, em, q in zip(
            begin, end, stride, begin_mask, end_mask, squeeze_mask, strict=True
        )
    )


NAMES = ("begin", "end", "stride", "begin_mask", "end_mask", "squeeze_mask")


@covers("slice_by_index")
@few
@given(shape=shapes(2, 4), seed=seeds, data=st.data(), flexible=st.booleans())
def test_slice_by_index(shape, seed, data, flexible):
    window = data.draw(windows(shape))
    window[5][0] = False  # a scalar output cannot be declared
    x = floats(shape, seed)
    expected = x[numpy_slices(*window)]
    parameters = dict(zip(NAMES, window, strict=True))
    check(
        "slice_by_index",
        lambda x: mb.slice_by_index(x=x, **parameters),
        {"x": x},
        expected,
        flexible=flexible,
    )


@pytest.mark.parametrize("squeezed", [False, True])
@pytest.mark.parametrize("row", [0, 2, -1])
def test_slice_by_index_where_the_bounds_come_at_run_time(squeezed, row):
    x = floats((4, 3, 5), 1)
    begin = np.array([row, 1, 0], np.int32)
    end = np.array([row + 1 or 4, 3, 0], np.int32)
    parameters = {"end_mask": [False, False, True], "squeeze_mask": [squeezed, False, False]}
    expected = x[row, 1:3] if squeezed else x[[row], 1:3]
    check(
        "slice_by_index",
        lambda x, begin, end: mb.slice_by_index(x=x, begin=begin, end=end, **parameters),
        {"x": x, "begin": begin, "end": end},
        expected,
    )


@covers("slice_by_size")
@pytest.mark.parametrize("constant", [False, True])
def test_slice_by_size(constant):
    x = floats((5, 6, 7), 2)
    begin, size = [1, -3, 0], [2, 3, -1]
    expected = x[1:3, 3:6]
    if constant:
        check(
            "slice_by_size",
            lambda x: mb.slice_by_size(x=x, begin=begin, size=size),
            {"x": x},
            expected,
        )
    else:
        check(
            "slice_by_size",
            lambda x, begin, size: mb.slice_by_size(x=x, begin=begin, size=size),
            {"x": x, "begin": np.array(begin, np.int32), "size": np.array(size, np.int32)},
            expected,
        )


@covers("slice_update")
@few
@given(shape=shapes(1, 4), seed=seeds, data=st.data())
def test_slice_update(shape, seed, data):
    window = data.draw(windows(shape))
    window[5] = [False, *window[5][1:]]  # an update of rank 0 is refused by Core ML
    x = floats(shape, seed)
    slices = numpy_slices(*window)
    update = floats(x[slices].shape, seed + 1)
    expected = x.copy()
    expected[slices] = update
    parameters = dict(zip(NAMES, window, strict=True))
    check(
        "slice_update",
        lambda x, update: mb.slice_update(x=x, update=update, **parameters),
        {"x": x, "update": update},
        expected,
        opset="iOS18",
    )


@pytest.mark.parametrize("row", [0, 3, 5])
def test_slice_update_writes_the_row_chosen_at_run_time(row):
    cache, update = floats((2, 3, 6, 4), 1), floats((2, 3, 1, 4), 2)
    begin = np.array([0, 0, row, 0], np.int32)
    end = np.array([2, 3, row + 1, 4], np.int32)
    expected = cache.copy()
    expected[:, :, [row]] = update
    check(
        "slice_update",
        lambda x, update, begin, end: mb.slice_update(x=x, update=update, begin=begin, end=end),
        {"x": cache, "update": update, "begin": begin, "end": end},
        expected,
        opset="iOS18",
    )


@covers("reverse")
@few
@given(shape=shapes(), seed=seeds, data=st.data(), whole=st.booleans())
def test_reverse(shape, seed, data, whole):
    x = integers(shape, seed) if whole else floats(shape, seed)
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1).map(sorted))
    check("reverse", lambda x: mb.reverse(x=x, axes=axes), {"x": x}, np.flip(x, axes))
