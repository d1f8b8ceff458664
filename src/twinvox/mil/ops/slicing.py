"""Slices in the manner of NumPy, read and written.

The MIL reference lists them under tensor_transformation.
"""

from typing import Any, NamedTuple

import numpy as np

from twinvox.mil.graph import Graph, Tensor
from twinvox.mil.ops import Call, op
from twinvox.mil.rewrite import reshape

FIRST, LAST = -(2**63), 2**63 - 1


class Window(NamedTuple):
    """The operands of an ONNX Slice, as int64 vectors with one entry for each axis."""

    starts: Tensor
    ends: Tensor
    steps: Tensor
    squeezed: list[int]


@op("slice_by_index")
def slice_by_index(call: Call) -> Tensor:
    graph, x = call.graph, call.tensor("x")
    window = _window(call, x)
    result = _slice(graph, x, window)
    if not window.squeezed:
        return result
    if call.out.shape.count(None) <= 1:
        return reshape(graph, result, call.out.shape)
    return graph.node("Squeeze", result, graph.ints(window.squeezed))


@op("slice_by_size")
def slice_by_size(call: Call) -> Tensor:
    """A size of -1 is what is left of the axis."""
    graph, x = call.graph, call.tensor("x")
    begin, size = call.tensor("begin"), call.tensor("size")
    steps = graph.ints([1] * x.rank)
    if begin.constant is not None and size.constant is not None:
        begins = begin.constant.array.tolist()
        ends = [
            LAST if count == -1 or start < 0 <= start + count else start + count
            for start, count in zip(begins, size.constant.array.tolist(), strict=True)
        ]
        return _slice(graph, x, Window(graph.ints(begins), graph.ints(ends), steps, []))
    zero, last = graph.constant(0, "int64"), graph.constant(LAST, "int64")
    begin, size = graph.int64(begin), graph.int64(size)
    ends_ = graph.node("Add", begin, size)
    wraps = graph.node(
        "And",
        graph.node("Less", begin, zero, dtype="bool"),
        graph.node("GreaterOrEqual", ends_, zero, dtype="bool"),
    )
    open_ = graph.node("Or", wraps, graph.node("Less", size, zero, dtype="bool"))
    ends_ = graph.where(open_, last, ends_)
    return _slice(graph, x, Window(begin, ends_, steps, []))


@op("reverse")
def reverse(call: Call) -> Tensor:
    graph, x = call.graph, call.tensor("x")
    axes = call.ints("axes", None)
    axes = list(range(x.rank)) if axes is None else axes
    ends = [[number] * len(axes) for number in (LAST, FIRST, -1)]
    starts, stops, steps = (graph.ints(values) for values in ends)
    return graph.node("Slice", x, starts, stops, graph.ints(axes), steps)


@op("slice_update")
def slice_update(call: Call) -> Tensor:
    """``x`` with one slice replaced: a ScatterND whose indices cover the axes up to the last one
    that is cut; the axes behind it are copied whole."""
    graph, x, update = call.graph, call.tensor("x"), call.tensor("update")
    window = _window(call, x)
    sizes = call.static(x)
    cut = [
        axis
        for axis in range(x.rank)
        if axis in window.squeezed or not _whole(window, axis, sizes[axis])
    ]
    if not cut:
        return update
    axes = cut[-1] + 1
    indices = []
    for axis in range(axes):
        vector = graph.ints(range(sizes[axis]))
        if axis in cut:
            at = graph.ints([axis])
            bounds = [graph.node("Gather", part, at) for part in window[:3]]
            zero = graph.ints([0])
            vector = graph.node("Slice", vector, bounds[0], bounds[1], zero, bounds[2])
        shape = [1] * axes
        shape[axis] = -1
        indices.append(graph.node("Reshape", vector, graph.ints(shape)))
    grid = graph.node("Shape", indices[0], dtype="int64")
    for index in indices[1:]:
        grid = graph.node("Max", grid, graph.node("Shape", index, dtype="int64"))
    last = graph.ints([-1])
    stacked = graph.node(
        "Concat",
        *(graph.node("Unsqueeze", graph.node("Expand", i, grid), last) for i in indices),
        axis=-1,
    )
    if window.squeezed:
        update = graph.node("Unsqueeze", update, graph.ints(window.squeezed))
    return graph.node("ScatterND", x, stacked, update)


def _window(call: Call, x: Tensor) -> Window:
    graph = call.graph
    begin, end = call.tensor("begin"), call.tensor("end")
    steps = np.array(call.ints("stride", [1] * x.rank))
    none = [False] * x.rank
    begin_mask = np.array(call.flags("begin_mask", none))
    end_mask = np.array(call.flags("end_mask", none))
    squeeze = np.array(call.flags("squeeze_mask", none))
    steps = np.where(squeeze, 1, steps)
    first = np.where(steps > 0, 0, LAST)
    last = np.where(steps > 0, LAST, FIRST)
    squeezed = np.flatnonzero(squeeze).tolist()
    if begin.constant is not None and end.constant is not None:
        starts = np.where(begin_mask, first, begin.constant.array.astype(np.int64))
        single = np.where(starts == -1, LAST, starts + 1)
        ends = np.where(squeeze, single, end.constant.array.astype(np.int64))
        ends = np.where(end_mask & ~squeeze, last, ends)
        return Window(graph.ints(starts), graph.ints(ends), graph.ints(steps), squeezed)
    starts_, ends_ = graph.int64(begin), graph.int64(end)
    if begin_mask.any():
        starts_ = _choose(graph, begin_mask, graph.ints(first), starts_)
    if squeeze.any():
        is_last = graph.node("Equal", starts_, graph.ints([-1]), dtype="bool")
        following = graph.node("Add", starts_, graph.ints([1]))
        following = graph.where(is_last, graph.ints([LAST]), following)
        ends_ = _choose(graph, squeeze, following, ends_)
    if (end_mask & ~squeeze).any():
        ends_ = _choose(graph, end_mask & ~squeeze, graph.ints(last), ends_)
    return Window(starts_, ends_, graph.ints(steps), squeezed)


def _choose(graph: Graph, mask: "np.ndarray[Any, Any]", a: Tensor, b: Tensor) -> Tensor:
    return graph.where(graph.constant(mask, "bool"), a, b)


def _slice(graph: Graph, x: Tensor, window: Window) -> Tensor:
    axes = [axis for axis in range(x.rank) if not _whole(window, axis, x.dims[axis])]
    if not axes:
        return x
    known = [vector.constant for vector in window[:3] if vector.constant is not None]
    if len(known) < 3:
        every = graph.ints(range(x.rank))
        return graph.node("Slice", x, window.starts, window.ends, every, window.steps)
    starts, ends, steps = (graph.ints(constant.array[axes]) for constant in known)
    return graph.node("Slice", x, starts, ends, graph.ints(axes), steps)


def _whole(window: Window, axis: int, size: int | None) -> bool:
    """Whether the window is known to take all of this axis, in order."""
    values = [
        None if vector.constant is None else int(vector.constant.array[axis])
        for vector in window[:3]
    ]
    start, end, step = values
    if start is None or end is None or step != 1:
        return False
    return start == 0 and (end == LAST or (size is not None and end >= size))
