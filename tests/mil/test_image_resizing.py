import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import Input, build_package, mb
from tests.mil.harness import check, covers, few, floats, seeds, shapes
from twinvox.errors import UnsupportedOpError
from twinvox.mil.package import read_package
from twinvox.mil.translate import to_onnx


def nearest(x, axis, size, scale):
    places = np.floor(np.arange(size) / scale).astype(int)
    return np.take(x, np.minimum(places, x.shape[axis] - 1), axis)


def linear(x, axis, size, sampling):
    """Grid points as the MIL reference defines them."""
    length, step = x.shape[axis], np.arange(size)
    grid = {
        "DEFAULT": lambda: step * (length / size),
        "STRICT_ALIGN_CORNERS": lambda: step * ((length - 1) / max(size - 1, 1)),
        "UNALIGN_CORNERS": lambda: (step + 0.5) * (length / size) - 0.5,
    }[sampling]()
    grid = np.clip(grid, 0, length - 1)
    below = np.floor(grid).astype(int)
    share = (grid - below).reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])
    above = np.minimum(below + 1, length - 1)
    return (np.take(x, below, axis) * (1 - share) + np.take(x, above, axis) * share).astype(x.dtype)


whole = st.sampled_from([1, 2, 3])
broken = st.sampled_from([0.5, 1.5, 2.25])
factors = st.tuples(whole, whole) | st.tuples(broken, broken)
"""(height, width), of one dtype as MIL asks"""


@covers("upsample_nearest_neighbor")
@few
@given(lead=shapes(1, 3, 3), seed=seeds, factors=factors, flexible=st.booleans())
def test_upsample_nearest_neighbor(lead, seed, factors, flexible):
    height, width = factors
    x = floats((*lead, 4, 6), seed)
    expected = nearest(x, -2, int(4 * height), height)
    check(
        "upsample_nearest_neighbor",
        lambda x: mb.upsample_nearest_neighbor(
            x=x, scale_factor_height=height, scale_factor_width=width
        ),
        {"x": x},
        nearest(expected, -1, int(6 * width), width),
        flexible=flexible,
    )


@pytest.mark.parametrize("factor", [41, 480])
def test_upsample_by_a_large_factor(factor):
    x = floats((1, 1, 1, 50), factor)
    check(
        "upsample_nearest_neighbor",
        lambda x: mb.upsample_nearest_neighbor(x=x, scale_factor_width=factor),
        {"x": x},
        np.repeat(x, factor, -1),
    )


@covers("upsample_bilinear")
@pytest.mark.parametrize("align_corners", [False, True])
@few
@given(lead=shapes(1, 3, 3), seed=seeds, factors=factors, flexible=st.booleans())
def test_upsample_bilinear(align_corners, lead, seed, factors, flexible):
    height, width = factors
    x = floats((*lead, 4, 5), seed)
    sampling = "STRICT_ALIGN_CORNERS" if align_corners else "UNALIGN_CORNERS"
    expected = linear(x, -2, int(4 * height), sampling)
    check(
        "upsample_bilinear",
        lambda x: mb.upsample_bilinear(
            x=x,
            scale_factor_height=height,
            scale_factor_width=width,
            align_corners=align_corners,
        ),
        {"x": x},
        linear(expected, -1, int(5 * width), sampling),
        flexible=flexible,
    )


@pytest.mark.parametrize(
    ("corners", "half", "sampling"),
    [
        (False, False, "DEFAULT"),
        (False, True, "UNALIGN_CORNERS"),
        (True, False, "STRICT_ALIGN_CORNERS"),
    ],
)
def test_upsample_bilinear_from_centres_or_corners(corners, half, sampling):
    x = floats((2, 4, 5), 1)
    check(
        "upsample_bilinear",
        lambda x: mb.upsample_bilinear(
            x=x, scale_factor_height=3, align_corners=corners, half_pixel_centers=half
        ),
        {"x": x},
        linear(x, -2, 12, sampling),
    )


sizes = st.tuples(st.integers(1, 9), st.integers(1, 9))


@covers("resize_bilinear")
@pytest.mark.parametrize("sampling", ["DEFAULT", "STRICT_ALIGN_CORNERS", "UNALIGN_CORNERS"])
@few
@given(lead=shapes(1, 3, 3), size=sizes, seed=seeds, flexible=st.booleans())
def test_resize_bilinear(sampling, lead, size, seed, flexible):
    x = floats((*lead, 4, 5), seed)
    check(
        "resize_bilinear",
        lambda x: mb.resize_bilinear(
            x=x,
            target_size_height=size[0],
            target_size_width=size[1],
            sampling_mode=sampling,
        ),
        {"x": x},
        linear(linear(x, -2, size[0], sampling), -1, size[1], sampling),
        flexible=flexible,
    )


@covers("resize_nearest_neighbor")
@few
@given(lead=shapes(1, 3, 3), size=sizes, seed=seeds, flexible=st.booleans())
def test_resize_nearest_neighbor(lead, size, seed, flexible):
    x = floats((*lead, 4, 6), seed)
    expected = nearest(x, -2, size[0], size[0] / 4)
    check(
        "resize_nearest_neighbor",
        lambda x: mb.resize_nearest_neighbor(
            x=x, target_size_height=size[0], target_size_width=size[1]
        ),
        {"x": x},
        nearest(expected, -1, size[1], size[1] / 6),
        flexible=flexible,
    )


@pytest.mark.parametrize("flexible", [False, True])
def test_resize_nearest_neighbor_takes_whole_places_for_whole(flexible):
    """4 * 14 / 8 is 7, though 4 / (8 / 14) is less in float32."""
    x = floats((2, 14, 25), 1)
    check(
        "resize_nearest_neighbor",
        lambda x: mb.resize_nearest_neighbor(x=x, target_size_height=8, target_size_width=15),
        {"x": x},
        x[:, np.arange(8) * 14 // 8][:, :, np.arange(15) * 25 // 15],
        flexible=flexible,
    )


@pytest.mark.parametrize(("sampling", "height"), [("OFFSET_CORNERS", 3), ("ALIGN_CORNERS", 1)])
def test_sampling_without_a_twin_is_refused(sampling, height, tmp_path):
    def function(x):
        return mb.resize_bilinear(
            x=x, target_size_height=height, target_size_width=3, sampling_mode=sampling
        )

    package = build_package(tmp_path / "op.mlpackage", function, {"x": Input((1, 4, 4))})
    with pytest.raises(UnsupportedOpError, match=sampling):
        to_onnx(read_package(package))
