import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, integers, seeds, shapes


@covers("identity")
def test_identity_from_an_input_to_two_outputs():
    x = floats((2, 3), 1)
    check("identity", lambda x: {"a": x, "b": x}, {"x": x}, (x, x))


@covers("concat")
@few
@given(shape=shapes(), count=st.integers(1, 3), seed=seeds, data=st.data(), flexible=st.booleans())
def test_concat(shape, count, seed, data, flexible):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    arrays = {}
    for index in range(count):
        sizes = list(shape)
        sizes[axis] = data.draw(st.integers(1, 4))
        arrays[f"x{index}"] = floats(sizes, seed + index)
    check(
        "concat",
        lambda **values: mb.concat(values=tuple(values.values()), axis=axis),
        arrays,
        np.concatenate(list(arrays.values()), axis),
        flexible=flexible,
    )


@few
@given(shape=shapes(2, 3), seed=seeds, data=st.data(), flexible=st.booleans())
def test_concat_interleaved(shape, seed, data, flexible):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x, y = floats(shape, seed), floats(shape, seed + 1)
    sizes = list(shape)
    sizes[axis] *= 2
    expected = np.stack([x, y], axis % len(shape) + 1).reshape(sizes)
    check(
        "concat",
        lambda x, y: mb.concat(values=(x, y), axis=axis, interleave=True),
        {"x": x, "y": y},
        expected,
        flexible=flexible,
    )


@covers("stack")
@few
@given(shape=shapes(1, 3), seed=seeds, data=st.data(), flexible=st.booleans())
def test_stack(shape, seed, data, flexible):
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    x, y = floats(shape, seed), floats(shape, seed + 1)
    check(
        "stack",
        lambda x, y: mb.stack(values=(x, y), axis=axis),
        {"x": x, "y": y},
        np.stack([x, y], axis),
        flexible=flexible,
    )


@covers("split")
@pytest.mark.parametrize("uneven", [False, True])
@few
@given(shape=shapes(1, 3), seed=seeds, data=st.data())
def test_split(uneven, shape, seed, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    sizes = [1, 3, 2] if uneven else [2, 2]
    full = list(shape)
    full[axis] = sum(sizes)
    x = floats(full, seed)
    parameters = {"split_sizes": sizes} if uneven else {"num_splits": len(sizes)}

    def function(x):
        parts = mb.split(x=x, axis=axis, **parameters)
        return {f"part{index}": part for index, part in enumerate(parts)}

    expected = tuple(np.split(x, np.cumsum(sizes)[:-1], axis))
    check("split", function, {"x": x}, expected)


@covers("tile")
@few
@given(shape=shapes(), seed=seeds, data=st.data(), constant=st.booleans())
def test_tile(shape, seed, data, constant):
    reps = [data.draw(st.integers(1, 3)) for _ in shape]
    x = floats(shape, seed)
    if constant:
        check("tile", lambda x: mb.tile(x=x, reps=reps), {"x": x}, np.tile(x, reps))
    else:
        check(
            "tile",
            lambda x, reps: mb.tile(x=x, reps=reps),
            {"x": x, "reps": np.array(reps, np.int32)},
            np.tile(x, reps),
        )


@covers("pad")
@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate"])
@few
@given(shape=shapes(2, 4), seed=seeds, data=st.data(), flexible=st.booleans())
def test_pad(mode, shape, seed, data, flexible):
    axes = data.draw(st.integers(1, len(shape) if mode == "constant" else 1))
    pairs = [
        [data.draw(st.integers(0, size - 1 if mode == "reflect" else 2)) for _ in range(2)]
        for size in shape[-axes:]
    ]
    x = floats(shape, seed)
    widths = [(0, 0)] * (len(shape) - axes) + [tuple(pair) for pair in pairs]
    if mode == "constant":
        expected = np.pad(x, widths, constant_values=1.5)
    else:
        expected = np.pad(x, widths, "edge" if mode == "replicate" else "reflect")
    amounts = [amount for pair in pairs for amount in pair]
    check(
        "pad",
        lambda x: mb.pad(x=x, pad=amounts, mode=mode, constant_val=1.5),
        {"x": x},
        expected,
        flexible=flexible,
    )


def test_pad_by_amounts_known_at_run_time():
    x, amounts = floats((2, 3), 1), np.array([1, 0, 2, 3], np.int32)
    check(
        "pad",
        lambda x, amounts: mb.pad(x=x, pad=amounts, mode="constant", constant_val=0.0),
        {"x": x, "amounts": amounts},
        np.pad(x, [(1, 0), (2, 3)]),
    )


@covers("shape", "fill_like", "fill")
@pytest.mark.parametrize("flexible", [False, True])
def test_shape_and_fill(flexible):
    x = floats((2, 3, 4), 1)
    shape = np.array(x.shape, np.int32)
    check("shape", lambda x: mb.shape(x=x), {"x": x}, shape, flexible=flexible)
    check(
        "fill_like",
        lambda x: mb.fill_like(ref_tensor=x, value=2.5),
        {"x": x},
        np.full(x.shape, 2.5, np.float32),
        flexible=flexible,
    )
    check(
        "fill",
        lambda shape: mb.fill(shape=shape, value=7),
        {"shape": shape},
        np.full(x.shape, 7, np.int32),
    )


@covers("range_1d")
@few
@given(
    start=st.integers(-5, 5),
    count=st.integers(1, 6),
    step=st.sampled_from([1, 2, -3]),
    whole=st.booleans(),
)
def test_range_1d(start, count, step, whole):
    dtype = np.int32 if whole else np.float32
    end = start + count * step
    check(
        "range_1d",
        lambda end: mb.range_1d(start=dtype(start), end=mb.squeeze(x=end), step=dtype(step)),
        {"end": np.array([end], dtype)},
        np.arange(start, end, step, dtype),
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_count_of_a_constant_range_is_that_of_its_own_precision(dtype):
    """A number more of these is below the end where the quotient is not rounded as they are."""
    end, step, count = {np.float16: (1, 0.1, 10), np.float32: (0.3, 0.1, 3)}[dtype]

    def function(x):
        tenths = mb.range_1d(start=dtype(0), end=dtype(end), step=dtype(step))
        return mb.add(x=mb.cast(x=tenths, dtype="fp32"), y=x)

    expected = np.arange(count) * np.float32(dtype(step))
    with np.errstate(over="ignore"):  # coremltools compares the count with a limit
        check("range_1d", function, {"x": np.zeros(1, np.float32)}, expected.astype(np.float32))


@covers("cumsum")
@few
@given(
    shape=shapes(),
    seed=seeds,
    data=st.data(),
    exclusive=st.booleans(),
    backwards=st.booleans(),
    whole=st.booleans(),
)
def test_cumsum(shape, seed, data, exclusive, backwards, whole):
    axis = data.draw(st.integers(-1, len(shape) - 1))
    x = integers(shape, seed) if whole else floats(shape, seed)
    expected = np.flip(x, axis) if backwards else x
    expected = np.cumsum(expected, axis, dtype=x.dtype)
    expected = np.flip(expected, axis) if backwards else expected
    check(
        "cumsum",
        lambda x: mb.cumsum(x=x, axis=axis, exclusive=exclusive, reverse=backwards),
        {"x": x},
        expected - x if exclusive else expected,
        atol=1e-5,
    )


@covers("band_part")
@few
@given(
    shape=shapes(2, 3),
    seed=seeds,
    lower=st.integers(-1, 3),
    upper=st.integers(-1, 3),
    whole=st.booleans(),
)
def test_band_part(shape, seed, lower, upper, whole):
    x = integers(shape, seed) if whole else floats(shape, seed)
    below = np.subtract.outer(np.arange(shape[-2]), np.arange(shape[-1]))
    kept = ((lower < 0) | (below <= lower)) & ((upper < 0) | (-below <= upper))
    check(
        "band_part",
        lambda x: mb.band_part(x=x, lower=lower, upper=upper),
        {"x": x},
        np.where(kept, x, x.dtype.type(0)),
    )


@covers("one_hot")
@few
@given(shape=shapes(1, 2), seed=seeds, data=st.data())
def test_one_hot(shape, seed, data):
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    indices = integers(shape, seed, 0, 4)
    hot = np.moveaxis(np.eye(5, dtype=bool)[indices], -1, axis)
    check(
        "one_hot",
        lambda indices: mb.one_hot(
            indices=indices, one_hot_vector_size=5, axis=axis, on_value=2.0, off_value=-1.0
        ),
        {"indices": indices},
        np.where(hot, np.float32(2), np.float32(-1)),
    )


def test_band_part_kept_in_fp16():
    x = floats((3, 3), 1).astype(np.float16)
    check("band_part", lambda x: mb.band_part(x=x, lower=0), {"x": x}, np.triu(x), precision="fp16")


def test_one_hot_of_booleans():
    def cold(indices):
        hot = mb.one_hot(indices=indices, one_hot_vector_size=3, on_value=False, off_value=True)
        return mb.cast(x=hot, dtype="int32")

    indices = np.array([2, 0], np.int32)
    check("one_hot", cold, {"indices": indices}, 1 - np.eye(3, dtype=np.int32)[indices])


@covers("non_zero")
def test_non_zero():
    x = np.where(floats((3, 4), 1) > 0, 1, 0).astype(np.int32)
    expected = np.stack(np.nonzero(x), 1).astype(np.int32)
    check("non_zero", lambda x: mb.non_zero(x=x), {"x": x}, expected)


@covers("topk", "argsort")
@few
@given(shape=shapes(), seed=seeds, data=st.data(), ascending=st.booleans(), flexible=st.booleans())
def test_topk_and_argsort(shape, seed, data, ascending, flexible):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    k = data.draw(st.integers(1, shape[axis]))
    x = floats(shape, seed)
    order = np.argsort(x if ascending else -x, axis)
    first = np.take(order, range(k), axis).astype(np.int32)

    def function(x):
        values, indices = mb.topk(x=x, k=k, axis=axis, ascending=ascending)
        return {"values": values, "indices": indices}

    check("topk", function, {"x": x}, (np.take_along_axis(x, first, axis), first))
    check(
        "argsort",
        lambda x: mb.argsort(x=x, axis=axis, ascending=ascending),
        {"x": x},
        order.astype(np.int32),
        flexible=flexible,
    )


@covers("sliding_windows")
@pytest.mark.parametrize("stride", [1, 2])
def test_sliding_windows(stride):
    x = floats((2, 7, 3), 1)
    starts = range(0, 7 - 3 + 1, stride)
    expected = np.stack([x[:, start : start + 3] for start in starts], 1)
    check(
        "sliding_windows",
        lambda x: mb.sliding_windows(x=x, axis=1, size=3, stride=stride),
        {"x": x},
        expected,
    )
