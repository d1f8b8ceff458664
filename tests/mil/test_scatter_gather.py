import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, integers, seeds, shapes

MODES = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "update": None,
}


def gather(x, indices, axis, batch):
    if batch:
        return np.stack(
            [gather(*pair, axis - 1, batch - 1) for pair in zip(x, indices, strict=True)]
        )
    return np.take(x, indices, axis)


def gather_nd(x, indices, batch):
    if batch:
        return np.stack([gather_nd(*pair, batch - 1) for pair in zip(x, indices, strict=True)])
    return x[tuple(np.moveaxis(indices, -1, 0))]


def scattered(data, place, updates, mode):
    """``place`` indexes ``data`` as NumPy does; equal places take effect one after the other."""
    result = data.copy()
    if mode == "update":
        result[place] = updates
    else:
        MODES[mode].at(result, place, updates)
    return result


def values(shape, seed, integral):
    return integers(shape, seed, 1, 4) if integral else floats(shape, seed, 1, 3)


@covers("gather")
@few
@given(
    data=st.data(), shape=shapes(1, 3), picked=shapes(1, 2, 4), seed=seeds, integral=st.booleans()
)
def test_gather(data, shape, picked, seed, integral):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values(shape, seed, integral)
    indices = integers(picked, seed, 0, shape[axis] - 1)
    check(
        "gather",
        lambda x, indices: mb.gather(x=x, indices=indices, axis=axis),
        {"x": x, "indices": indices},
        np.take(x, indices, axis),
        flexible=data.draw(st.booleans()),
    )


@few
@given(data=st.data(), shape=shapes(2, 4, 4), seed=seeds)
def test_gather_with_batch_dims(data, shape, seed):
    batch = data.draw(st.integers(1, len(shape) - 1))
    axis = data.draw(st.integers(batch, len(shape) - 1))
    picked = (*shape[:batch], *data.draw(shapes(0, 2, 3)))
    x = floats(shape, seed)
    indices = integers(picked, seed, 0, shape[axis] - 1)
    check(
        "gather",
        lambda x, indices: mb.gather(x=x, indices=indices, axis=axis, batch_dims=batch),
        {"x": x, "indices": indices},
        gather(x, indices, axis, batch),
        flexible=data.draw(st.booleans()),
    )


@pytest.mark.parametrize(
    "indices", [np.array([[4, 0], [2, 2]], dtype) for dtype in ("u1", "i2", "u2")] + [np.int32(3)]
)
def test_gather_at_constants(indices):
    x = floats((5, 3), 1)
    check("gather", lambda x: mb.gather(x=x, indices=indices), {"x": x}, x[indices])


@covers("gather_along_axis")
@few
@given(data=st.data(), shape=shapes(1, 4), count=st.integers(1, 5), seed=seeds)
def test_gather_along_axis(data, shape, count, seed):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values(shape, seed, data.draw(st.booleans()))
    sizes = list(shape)
    sizes[axis] = count
    indices = integers(sizes, seed, 0, shape[axis] - 1)
    check(
        "gather_along_axis",
        lambda x, indices: mb.gather_along_axis(x=x, indices=indices, axis=axis),
        {"x": x, "indices": indices},
        np.take_along_axis(x, indices, axis),
        flexible=data.draw(st.booleans()),
    )


@covers("gather_nd")
@few
@given(data=st.data(), shape=shapes(2, 4, 4), picked=shapes(1, 2, 3), seed=seeds)
def test_gather_nd(data, shape, picked, seed):
    batch = data.draw(st.integers(0, len(shape) - 1))
    depth = data.draw(st.integers(1, len(shape) - batch))
    x = floats(shape, seed)
    limits = np.array(shape[batch : batch + depth])
    indices = integers((*shape[:batch], *picked, depth), seed, 0, 99) % limits
    indices = indices.astype(np.int32)
    check(
        "gather_nd",
        lambda x, indices: mb.gather_nd(x=x, indices=indices, batch_dims=batch),
        {"x": x, "indices": indices},
        gather_nd(x, indices, batch),
    )


@covers("scatter")
@pytest.mark.parametrize("mode", MODES)
@few
@given(data=st.data(), shape=shapes(1, 3), count=st.integers(1, 5), seed=seeds)
def test_scatter(mode, data, shape, count, seed):
    axis = data.draw(st.integers(0, len(shape) - 1))
    integral = mode != "div" and data.draw(st.booleans())
    indices = integers((count,), seed, 0, shape[axis] - 1)
    if mode == "update":
        indices = np.random.default_rng(seed).permutation(shape[axis])[:count].astype(np.int32)
    table = values(shape, seed, integral)
    updates = values((*shape[:axis], len(indices), *shape[axis + 1 :]), seed + 1, integral)
    signed = axis - len(shape) if data.draw(st.booleans()) else axis
    check(
        "scatter",
        lambda data, indices, updates: mb.scatter(
            data=data, indices=indices, updates=updates, axis=signed, mode=mode
        ),
        {"data": table, "indices": indices, "updates": updates},
        scattered(table, (*[slice(None)] * axis, indices), updates, mode),
        flexible=data.draw(st.booleans()),
    )


@pytest.mark.parametrize("mode", MODES)
def test_scatter_keeps_half_precision(mode):
    table, updates = (floats((4, 3), seed, 1, 3).astype(np.float16) for seed in (1, 2))
    indices = np.array([2, 0, 3, 1], np.int32)
    check(
        "scatter",
        lambda data, updates: mb.scatter(data=data, indices=indices, updates=updates, mode=mode),
        {"data": table, "updates": updates},
        scattered(table, indices, updates, mode),
        precision="fp16",
        rtol=2e-3,
    )


@covers("scatter_along_axis")
@pytest.mark.parametrize("mode", MODES)
@few
@given(data=st.data(), shape=shapes(1, 3), count=st.integers(1, 5), seed=seeds)
def test_scatter_along_axis(mode, data, shape, count, seed):
    axis = data.draw(st.integers(0, len(shape) - 1))
    sizes = list(shape)
    sizes[axis] = count
    indices = integers(sizes, seed, 0, shape[axis] - 1)
    if mode == "update":
        order = np.random.default_rng(seed).permuted(np.indices(shape)[axis], axis=axis)
        indices = np.take(order, range(min(count, shape[axis])), axis).astype(np.int32)
    place = list(np.indices(indices.shape))
    place[axis] = indices
    table, updates = floats(shape, seed, 1, 3), floats(indices.shape, seed + 1, 1, 3)
    check(
        "scatter_along_axis",
        lambda data, indices, updates: mb.scatter_along_axis(
            data=data, indices=indices, updates=updates, axis=axis, mode=mode
        ),
        {"data": table, "indices": indices, "updates": updates},
        scattered(table, tuple(place), updates, mode),
    )


@covers("scatter_nd")
@pytest.mark.parametrize("mode", MODES)
@few
@given(data=st.data(), shape=shapes(1, 3), count=st.integers(1, 5), seed=seeds)
def test_scatter_nd(mode, data, shape, count, seed):
    depth = data.draw(st.integers(1, len(shape)))
    places = np.argwhere(np.ones(shape[:depth]))
    chosen = np.random.default_rng(seed).choice(
        len(places), min(count, len(places)), replace=mode != "update"
    )
    indices = places[chosen].astype(np.int32)
    table = floats(shape, seed, 1, 3)
    updates = floats((len(indices), *shape[depth:]), seed + 1, 1, 3)
    check(
        "scatter_nd",
        lambda data, indices, updates: mb.scatter_nd(
            data=data, indices=indices, updates=updates, mode=mode
        ),
        {"data": table, "indices": indices, "updates": updates},
        scattered(table, tuple(indices.T), updates, mode),
    )
