import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import Input, Range, build_package, mb
from tests.mil.harness import check, covers, few, floats, seeds
from twinvox.errors import UnsupportedOpError
from twinvox.mil.package import read_package
from twinvox.mil.translate import to_onnx


def pool(x, kernel, strides, pads, ceil, filler, reduce):
    """The definition. A window may reach over the end of the padded input where ``ceil`` is set,
    but must start in the input or the padding before it."""
    padded = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=filler)
    spans = []
    for axis, (size, stride, pair) in enumerate(zip(kernel, strides, pads, strict=True), 2):
        length = padded.shape[axis]
        starts = range(0, length - size + (stride if ceil else 1), stride)
        starts = [start for start in starts if start < x.shape[axis] + pair[0]]
        spans.append([slice(start, min(start + size, length)) for start in starts])
    result = np.zeros((*x.shape[:2], *map(len, spans)), np.float32)
    for place in itertools.product(*(range(len(span)) for span in spans)):
        window = [span[index] for span, index in zip(spans, place, strict=True)]
        block = padded[(slice(None), slice(None), *window)]
        result[(slice(None), slice(None), *place)] = reduce(block, axis=tuple(range(2, x.ndim)))
    return result


def same_pads(lengths, kernel, strides, lower):
    pads = []
    for length, size, stride in zip(lengths, kernel, strides, strict=True):
        total = max(0, (-(-length // stride) - 1) * stride + size - length)
        less, more = total // 2, total - total // 2
        pads.append((more, less) if lower else (less, more))
    return pads


WAYS = {
    "max": ("max_pool", {}, -np.inf, np.max),
    "mean": ("avg_pool", {}, 0, np.mean),
    "mean of the input alone": (
        "avg_pool",
        {"exclude_padding_from_average": True},
        np.nan,
        np.nanmean,
    ),
}


@covers("max_pool", "avg_pool")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("pad_type", "axes"),
    [("valid", 1), ("custom", 1), ("custom", 3), ("same", 2), ("same_lower", 2), ("ceil", 2)],
)
@few
@given(data=st.data(), seed=seeds, flexible=st.booleans())
def test_pool(way, pad_type, axes, data, seed, flexible):
    kind, parameters, filler, reduce = WAYS[way]
    ceil = pad_type == "ceil"
    kernel = [data.draw(st.integers(1, 3)) for _ in range(axes)]
    strides = [data.draw(st.integers(1, 3)) for _ in range(axes)]
    lengths = [data.draw(st.integers(5, 8)) for _ in range(axes)]
    pads = [(0, 0)] * axes
    if pad_type == "custom":
        pads = [tuple(data.draw(st.integers(0, size - 1)) for _ in "ab") for size in kernel]
    elif ceil:
        pads = [(data.draw(st.integers(0, size // 2)),) * 2 for size in kernel]
        flexible = flexible and all(
            stride + pad <= size
            for stride, (pad, _), size in zip(strides, pads, kernel, strict=True)
        )
    elif pad_type != "valid":
        pads = same_pads(lengths, kernel, strides, pad_type == "same_lower")
        flexible = flexible and set(strides) == {1}
    if pad_type in ("custom", "ceil"):
        parameters = parameters | {"pad": [amount for pair in pads for amount in pair]}
    x = floats((2, 3, *lengths), seed)

    def function(x):
        return getattr(mb, kind)(
            x=x,
            kernel_sizes=kernel,
            strides=strides,
            pad_type="custom" if ceil else pad_type,
            ceil_mode=ceil,
            **parameters,
        )

    expected = pool(x, kernel, strides, pads, ceil, filler, reduce)
    check(kind, function, {"x": x}, expected, flexible=flexible)


def test_a_window_that_could_lie_in_the_padding_is_refused(tmp_path):
    def function(x):
        return mb.max_pool(
            x=x, kernel_sizes=[2], strides=[2], pad_type="custom", pad=[1, 1], ceil_mode=True
        )

    spec = Input((1, 1, Range(2, 9, 4)))
    package = build_package(tmp_path / "op.mlpackage", function, {"x": spec})
    with pytest.raises(UnsupportedOpError, match="ceil_mode"):
        to_onnx(read_package(package))


def test_pads_as_large_as_the_kernel_are_refused(tmp_path):
    def function(x):
        return mb.max_pool(x=x, kernel_sizes=[2], strides=[1], pad_type="custom", pad=[2, 0])

    package = build_package(tmp_path / "op.mlpackage", function, {"x": Input((1, 1, 4))})
    with pytest.raises(UnsupportedOpError, match="pads"):
        to_onnx(read_package(package))
