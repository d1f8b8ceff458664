import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, seeds, shapes


@covers("reshape")
@few
@given(shape=shapes(2, 4), seed=seeds, flexible=st.booleans())
def test_reshape(shape, seed, flexible):
    x = floats(shape, seed)
    target = [shape[-1], -1] if flexible else [x.size // shape[0], shape[0]]
    check(
        "reshape",
        lambda x: mb.reshape(x=x, shape=target),
        {"x": x},
        x.reshape(target),
        flexible=flexible,
    )


def test_reshape_keeps_sizes_given_as_zero():
    x = floats((2, 3, 4), 1)
    for flexible in (False, True):
        check(
            "reshape",
            lambda x: mb.reshape(x=x, shape=[0, -1, 2]),
            {"x": x},
            x.reshape(2, 6, 2),
            flexible=flexible,
        )


@pytest.mark.parametrize(
    ("target", "expected"),
    [([-1, 0], (6, 4)), ([1, 0, 0, 0], (1, 2, 3, 4)), ([0, -1, 0, 0, 0], (1, 1, 2, 3, 4))],
)
def test_reshape_counts_zeros_from_the_last_axis(target, expected):
    """Since iOS 17, where the ranks may differ."""
    x = floats((2, 3, 4), 1)
    for flexible in (False, True):
        check(
            "reshape",
            lambda x: mb.reshape(x=x, shape=target),
            {"x": x},
            x.reshape(expected),
            flexible=flexible,
        )
    check(
        "reshape",
        lambda x, shape: mb.reshape(x=x, shape=shape),
        {"x": x, "shape": np.array(target, np.int32)},
        x.reshape(expected),
    )


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda y: mb.slice_by_index(x=y, begin=[0, 1, 0], end=[1, 3, 4]), np.s_[:1, 1:3]),
        (lambda y: mb.expand_dims(x=mb.relu(x=y), axes=[0]), np.s_[None]),
    ],
)
def test_a_size_declared_as_0_is_one_that_is_not_known(function, expected):
    """coremltools writes it into the type of what a reshape with zeros returns."""
    x = floats((2, 3, 4), 1, 0, 1)
    check(
        "reshape",
        lambda x: function(mb.reshape(x=x, shape=[0, 0, 4])),
        {"x": x},
        x[expected],
        flexible=True,
    )


def test_reshape_to_a_shape_known_at_run_time():
    x, shape = floats((2, 3, 4), 1), np.array([4, 6], np.int32)
    check(
        "reshape",
        lambda x, shape: mb.reshape(x=x, shape=shape),
        {"x": x, "shape": shape},
        x.reshape(4, 6),
    )


@covers("reshape_like")
def test_reshape_like():
    x, y = floats((2, 6), 1), floats((3, 4), 2)

    def like(x, y):
        return mb.reshape_like(x=x, ref_tensors=(y,), begins=(0,), ends=(2,), end_masks=(False,))

    check("reshape_like", like, {"x": x, "y": y}, x.reshape(3, 4))


@covers("flatten2d")
@few
@given(shape=shapes(), seed=seeds, data=st.data())
def test_flatten2d(shape, seed, data):
    axis = data.draw(st.integers(1 - len(shape), len(shape) - 1))
    x = floats(shape, seed)
    expected = x.reshape(int(np.prod(shape[:axis])), -1)
    check("flatten2d", lambda x: mb.flatten2d(x=x, axis=axis), {"x": x}, expected)


@covers("expand_dims", "squeeze")
@few
@given(shape=shapes(1, 3), seed=seeds, data=st.data(), flexible=st.booleans())
def test_expand_dims_and_squeeze(shape, seed, data, flexible):
    axes = data.draw(st.sets(st.integers(0, len(shape)), min_size=1, max_size=2).map(sorted))
    x = floats(shape, seed)
    wide = np.expand_dims(x, axes)
    check(
        "expand_dims",
        lambda x: mb.expand_dims(x=x, axes=axes),
        {"x": x},
        wide,
        flexible=flexible,
    )
    check("squeeze", lambda x: mb.squeeze(x=x, axes=axes), {"x": wide}, x)


def test_squeeze_of_a_flexible_tensor():
    x = floats((2, 3), 1)

    def function(x):
        return mb.squeeze(x=mb.expand_dims(x=x, axes=[1]), axes=[1])

    check("squeeze", function, {"x": x}, x, flexible=True)


@covers("transpose")
@few
@given(shape=shapes(2, 4), seed=seeds, data=st.data(), flexible=st.booleans())
def test_transpose(shape, seed, data, flexible):
    perm = data.draw(st.permutations(range(len(shape))))
    signed = [axis - len(shape) if data.draw(st.booleans()) else axis for axis in perm]
    x = floats(shape, seed)
    check(
        "transpose",
        lambda x: mb.transpose(x=x, perm=signed),
        {"x": x},
        x.transpose(perm),
        flexible=flexible,
    )


def shuffled(x, factor, channels_first):
    """[n, c f f, h, w] -> [n, c, h f, w f]."""
    n, deep, h, w = x.shape
    c = deep // factor**2
    if channels_first:  # PyTorch's pixel shuffle
        cells = x.reshape(n, c, factor, factor, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        cells = x.reshape(n, factor, factor, c, h, w).transpose(0, 3, 4, 1, 5, 2)
    return cells.reshape(n, c, h * factor, w * factor)


@covers("depth_to_space", "space_to_depth", "pixel_shuffle", "pixel_unshuffle")
@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("channels_first", [False, True])
def test_depth_and_space(factor, channels_first):
    x = floats((2, 2 * factor**2, 3, 4), factor)
    wide = shuffled(x, factor, channels_first)
    if channels_first:
        check(
            "pixel_shuffle",
            lambda x: mb.pixel_shuffle(x=x, upscale_factor=factor),
            {"x": x},
            wide,
        )
        check(
            "pixel_unshuffle",
            lambda x: mb.pixel_unshuffle(x=x, downscale_factor=np.uint32(factor)),
            {"x": wide},
            x,
        )
    else:
        check("depth_to_space", lambda x: mb.depth_to_space(x=x, block_size=factor), {"x": x}, wide)
        check("space_to_depth", lambda x: mb.space_to_depth(x=x, block_size=factor), {"x": wide}, x)
