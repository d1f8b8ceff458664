"""Sliding windows over one to three spatial axes."""

from dataclasses import dataclass

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op
from twinvox.mil.ops.conv import window_pads


@dataclass(frozen=True)
class Window:
    """``before`` and ``after`` pad each spatial axis; ``beyond`` is what ``ceil_mode`` adds behind
    ``after`` so that the last, partial window counts."""

    kernel: tuple[int, ...]
    strides: list[int]
    before: list[int]
    after: list[int]
    beyond: list[int]

    @property
    def pads(self) -> list[int]:
        ends = zip(self.after, self.beyond, strict=True)
        return self.before + [after + beyond for after, beyond in ends]


@op("max_pool")
def max_pool(call: Call) -> Tensor:
    x = call.tensor("x")
    window = _window(call, x)
    return call.graph.node(
        "MaxPool", x, kernel_shape=window.kernel, strides=window.strides, pads=window.pads
    )


@op("avg_pool")
def avg_pool(call: Call) -> Tensor:
    """The zeros of ``pad`` count unless excluded, those of ``ceil_mode`` never do."""
    graph, x = call.graph, call.tensor("x")
    window = _window(call, x)
    count_pads = not call.flag("exclude_padding_from_average", False)
    pads = window.pads
    if count_pads and any(window.beyond):
        zeros = [0, 0, *window.before, 0, 0, *window.after]
        x = graph.node("Pad", x, graph.ints(zeros), graph.scalar(0.0, x))
        pads = [0] * len(window.kernel) + window.beyond
        count_pads = False
    return graph.node(
        "AveragePool",
        x,
        kernel_shape=window.kernel,
        strides=window.strides,
        pads=pads,
        count_include_pad=int(count_pads),
    )


def _window(call: Call, x: Tensor) -> Window:
    kernel = tuple(call.ints("kernel_sizes"))
    axes = len(kernel)
    strides = call.ints("strides", [1] * axes)
    pads = window_pads(call, x, kernel, strides, [1] * axes)
    before, after = pads[:axes], pads[axes:]
    beyond = [0] * axes
    if call.flag("ceil_mode", False):
        beyond = [
            _beyond(call, x.dims[axis + 2], kernel[axis], strides[axis], before[axis], after[axis])
            for axis in range(axes)
        ]
    window = Window(kernel, strides, before, after, beyond)
    if any(pad >= size for pad, size in zip(window.pads, kernel * 2, strict=True)):
        raise call.unsupported(f"pads {window.pads} reach over the whole kernel {kernel}")
    return window


def _beyond(call: Call, length: int | None, size: int, stride: int, before: int, after: int) -> int:
    """Padding that rounds the number of windows up, less a window that sees padding alone."""
    if after + stride <= size:  # no window can start behind the input
        return stride - 1
    if length is None:
        raise call.unsupported("ceil_mode with this stride needs a fixed size")
    windows = -(-(length + before + after - size) // stride) + 1
    if (windows - 1) * stride >= length + before:
        windows -= 1
    return max((windows - 1) * stride + size - (length + before + after), 0)
