import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, seeds


def conv(x, weight, bias, strides, dilations, groups, pads):
    """The definition: pads are (before, after) for each spatial axis."""
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    batch, out_channels, per_group = len(x), len(weight), weight.shape[1]
    kernel = weight.shape[2:]
    sizes = [
        (length - (size - 1) * dilation - 1) // stride + 1
        for length, size, stride, dilation in zip(
            x.shape[2:], kernel, strides, dilations, strict=True
        )
    ]
    result = np.zeros((batch, out_channels, *sizes))
    for channel in range(out_channels):
        first = channel // (out_channels // groups) * per_group
        block = x[:, first : first + per_group].astype(np.float64)
        for tap in itertools.product(*map(range, kernel)):
            window = tuple(
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, dilations, sizes, strides, strict=True)
            )
            taps = weight[(channel, slice(None), *tap)]
            result[:, channel] += np.tensordot(
                taps, block[(slice(None), slice(None), *window)], (0, 1)
            )
    return (result + bias.reshape(-1, *[1] * len(kernel))).astype(np.float32)


def conv_transpose(x, weight, bias, strides, dilations, groups):
    """The definition, nothing trimmed."""
    batch, in_channels = x.shape[:2]
    kernel = weight.shape[2:]
    per_group = weight.shape[1]
    sizes = [
        (length - 1) * stride + (size - 1) * dilation + 1
        for length, size, stride, dilation in zip(
            x.shape[2:], kernel, strides, dilations, strict=True
        )
    ]
    result = np.zeros((batch, per_group * groups, *sizes))
    for channel in range(in_channels):
        first = channel // (in_channels // groups) * per_group
        for tap in itertools.product(*map(range, kernel)):
            window = tuple(
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, dilations, x.shape[2:], strides, strict=True)
            )
            for out in range(per_group):
                place = (slice(None), first + out, *window)
                result[place] += x[:, channel].astype(np.float64) * weight[(channel, out, *tap)]
    return (result + bias.reshape(-1, *[1] * len(kernel))).astype(np.float32)


def same_pads(lengths, kernel, strides, dilations, lower):
    pads = []
    for length, size, stride, dilation in zip(lengths, kernel, strides, dilations, strict=True):
        extent = (size - 1) * dilation + 1
        total = max(0, (-(-length // stride) - 1) * stride + extent - length)
        less, more = total // 2, total - total // 2
        pads.append((more, less) if lower else (less, more))
    return pads


@st.composite
def layers(draw, axes):
    """Sizes of a convolution over ``axes`` spatial axes: (lengths, kernel, strides, dilations,
    groups, channels per group in and out)."""

    def vector(low, high):
        return [draw(st.integers(low, high)) for _ in range(axes)]

    sizes = (vector(7, 10), vector(1, 3), vector(1, 3), vector(1, 2))
    return *sizes, draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))


@covers("conv")
@pytest.mark.parametrize("pad_type", ["valid", "custom", "same", "same_lower"])
@pytest.mark.parametrize("axes", [1, 2])
@few
@given(data=st.data(), seed=seeds, flexible=st.booleans(), biased=st.booleans())
def test_conv(pad_type, axes, data, seed, flexible, biased):
    lengths, kernel, strides, dilations, groups, per_in, per_out = data.draw(layers(axes))
    pads = [(0, 0)] * axes
    parameters = {}
    if pad_type == "custom":
        pads = [data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2))) for _ in range(axes)]
        parameters["pad"] = [amount for pair in pads for amount in pair]
    elif pad_type != "valid":
        pads = same_pads(lengths, kernel, strides, dilations, pad_type == "same_lower")
        flexible = flexible and set(strides) == {1}
    x = floats((2, per_in * groups, *lengths), seed)
    weight = floats((per_out * groups, per_in, *kernel), seed + 1)
    bias = floats((per_out * groups,), seed + 2) * biased
    if biased:
        parameters["bias"] = bias

    def function(x):
        if flexible:  # a flexible channel count would be refused by the builder
            x = mb.reshape(x=x, shape=[-1, per_in * groups, *lengths])
        return mb.conv(
            x=x,
            weight=weight,
            strides=strides,
            pad_type=pad_type,
            dilations=dilations,
            groups=groups,
            **parameters,
        )

    expected = conv(x, weight, bias, strides, dilations, groups, pads)
    check("conv", function, {"x": x}, expected, flexible=flexible, atol=1e-5)


@covers("conv_transpose")
@pytest.mark.parametrize("pad_type", ["valid", "custom", "same"])
@pytest.mark.parametrize("axes", [1, 2])
@few
@given(data=st.data(), seed=seeds, biased=st.booleans(), longer=st.integers(0, 1))
def test_conv_transpose(pad_type, axes, data, seed, biased, longer):
    lengths, kernel, strides, dilations, groups, per_in, per_out = data.draw(layers(axes))
    x = floats((2, per_in * groups, *lengths), seed)
    weight = floats((per_in * groups, per_out, *kernel), seed + 1)
    bias = floats((per_out * groups,), seed + 2) * biased
    full = conv_transpose(x, weight, bias, strides, dilations, groups)
    parameters = {"bias": bias} if biased else {}
    pads = [(0, 0)] * axes
    if pad_type == "custom":
        pads = [data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2))) for _ in range(axes)]
        parameters["pad"] = [amount for pair in pads for amount in pair]
    elif pad_type == "same":
        extents = [(size - 1) * d + 1 for size, d in zip(kernel, dilations, strict=True)]
        totals = [extent - stride for extent, stride in zip(extents, strides, strict=True)]
        pads = [(max(t, 0) // 2, t - max(t, 0) // 2) for t in totals]
    longer = longer if min(strides) > 1 else 0
    sizes = [size - sum(pair) + longer for size, pair in zip(full.shape[2:], pads, strict=True)]
    if longer and pad_type != "same":
        parameters["output_shape"] = [2, per_out * groups, *sizes]
    elif longer:
        sizes = [size - 1 for size in sizes]
    begins = [before for before, _ in pads]
    wide = np.broadcast_to(bias.reshape(-1, *[1] * axes), (2, per_out * groups, *[200] * axes))
    wide = wide.copy()
    wide[(..., *(slice(0, size) for size in full.shape[2:]))] = full
    expected = wide[(..., *(slice(b, b + n) for b, n in zip(begins, sizes, strict=True)))]

    def function(x):
        return mb.conv_transpose(
            x=x,
            weight=weight,
            strides=strides,
            pad_type=pad_type,
            dilations=dilations,
            groups=groups,
            **parameters,
        )

    check("conv_transpose", function, {"x": x}, expected, atol=1e-5)
