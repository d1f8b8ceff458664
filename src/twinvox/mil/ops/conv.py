"""Convolutions over one to three spatial axes."""

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op


@op("conv")
def conv(call: Call) -> Tensor:
    x = call.tensor("x")
    weight, bias = _weights(call, x)
    kernel, strides, dilations = _window(call, weight)
    return call.graph.node(
        "Conv",
        x,
        weight,
        bias,
        kernel_shape=kernel,
        strides=strides,
        dilations=dilations,
        group=call.integer("groups", 1),
        pads=window_pads(call, x, kernel, strides, dilations),
    )


def window_pads(
    call: Call, x: Tensor, kernel: tuple[int, ...], strides: list[int], dilations: list[int]
) -> list[int]:
    """ONNX pads, all begins before all ends, of a sliding window's ``pad_type`` and ``pad``."""
    axes = len(kernel)
    pad_type = call.text("pad_type", "valid")
    pad = call.ints("pad", [0] * 2 * axes)
    if pad_type == "custom":
        return pad[0::2] + pad[1::2]
    if pad_type == "valid":
        return [0] * 2 * axes
    if pad_type not in ("same", "same_lower"):
        raise call.unsupported(f"unknown pad_type {pad_type!r}")
    less, more = [], []
    for axis, (size, step, dilation) in enumerate(zip(kernel, strides, dilations, strict=True)):
        extent = (size - 1) * dilation + 1
        length = x.dims[axis + 2]
        if length is None and step != 1:
            raise call.unsupported(f"pad_type {pad_type} with stride {step} needs a fixed size")
        total = extent - 1 if length is None else (-(-length // step) - 1) * step + extent - length
        less.append(max(total, 0) // 2)
        more.append(max(total, 0) - less[-1])
    return less + more if pad_type == "same" else more + less


@op("conv_transpose")
def conv_transpose(call: Call) -> Tensor:
    x = call.tensor("x")
    weight, bias = _weights(call, x)
    kernel, strides, dilations = _window(call, weight)
    begins, ends, extra = [], [], []
    for axis in range(len(kernel)):
        begin, end = _trimmed(call, x, axis, (kernel[axis] - 1) * dilations[axis] + 1, strides)
        if -end >= strides[axis]:
            raise call.unsupported(f"an output {-end} longer than the products reach")
        begins.append(begin)
        ends.append(max(end, 0))
        extra.append(max(-end, 0))
    return call.graph.node(
        "ConvTranspose",
        x,
        weight,
        bias,
        kernel_shape=kernel,
        strides=strides,
        dilations=dilations,
        group=call.integer("groups", 1),
        pads=begins + ends,
        output_padding=extra if any(extra) else None,
    )


def _trimmed(call: Call, x: Tensor, axis: int, extent: int, strides: list[int]) -> tuple[int, int]:
    """How much of the full result is cut off before and after; a negative end is added."""
    axes = len(strides)
    pad_type = call.text("pad_type", "valid")
    pad = call.ints("pad", [0] * 2 * axes)
    output_shape = call.ints("output_shape", None)
    begin, end = 0, 0
    if pad_type == "custom":
        begin, end = pad[2 * axis : 2 * axis + 2]
    elif pad_type == "same":
        total = extent - strides[axis]
        begin = max(total, 0) // 2
        end = total - begin
    elif pad_type != "valid":
        raise call.unsupported(f"unknown pad_type {pad_type!r}")
    if output_shape is not None:
        length = x.dims[axis + 2]
        if length is None:
            raise call.unsupported("output_shape needs a fixed input size")
        full = (length - 1) * strides[axis] + extent
        end = full - begin - output_shape[-axes:][axis]
    return begin, end


def _window(call: Call, weight: Tensor) -> tuple[tuple[int, ...], list[int], list[int]]:
    """Kernel size, strides and dilations of every spatial axis."""
    kernel = call.static(weight)[2:]
    ones = [1] * len(kernel)
    return kernel, call.ints("strides", ones), call.ints("dilations", ones)


def _weights(call: Call, x: Tensor) -> tuple[Tensor, Tensor | None]:
    weight, bias = call.tensor("weight"), call.optional("bias")
    return (
        call.graph.cast(weight, x.dtype),
        None if bias is None else call.graph.cast(bias, x.dtype),
    )
