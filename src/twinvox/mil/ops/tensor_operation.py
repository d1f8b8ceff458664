"""Making, joining and padding tensors."""

import numpy as np

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op
from twinvox.mil.rewrite import reshape


@op("identity")
def identity(call: Call) -> Tensor:
    return call.tensor("x")


@op("concat")
def concat(call: Call) -> Tensor:
    graph, values = call.graph, call.tensors("values")
    axis = call.integer("axis")
    if call.flag("interleave", False):
        after = axis % values[0].rank + 1
        apart = [graph.node("Unsqueeze", value, graph.ints([after])) for value in values]
        joined = graph.node("Concat", *apart, axis=after)
        if call.out.shape.count(None) <= 1:
            return reshape(graph, joined, call.out.shape)
        lead = graph.node("Shape", values[0], dtype="int64", end=after - 1)
        rest = graph.node("Shape", values[0], dtype="int64", start=after)
        sizes = graph.node("Concat", lead, graph.ints([-1]), rest, axis=0)
        return graph.node("Reshape", joined, sizes)
    if values[0].rank == 0:
        values = tuple(reshape(graph, value, (1,)) for value in values)
    return values[0] if len(values) == 1 else graph.node("Concat", *values, axis=axis)


@op("stack")
def stack(call: Call) -> Tensor:
    graph, values = call.graph, call.tensors("values")
    axis = call.integer("axis") % (values[0].rank + 1)
    apart = [_with_axis(call, value, axis) for value in values]
    return apart[0] if len(apart) == 1 else graph.node("Concat", *apart, axis=axis)


def _with_axis(call: Call, x: Tensor, axis: int) -> Tensor:
    if x.dims.count(None) > 1:
        return call.graph.node("Unsqueeze", x, call.graph.ints([axis]))
    return reshape(call.graph, x, (*x.dims[:axis], 1, *x.dims[axis:]))


@op("split")
def split(call: Call) -> tuple[Tensor, ...]:
    graph, x, axis = call.graph, call.tensor("x"), call.integer("axis")
    call.ignore("num_splits", "split_sizes")
    outputs = call.operation.outputs
    sizes = [output.type.shape[axis] for output in outputs]
    if len(outputs) == 1:
        return (x,)
    known = None if None in sizes else graph.ints(size or 0 for size in sizes)
    if known is None and call.given("split_sizes"):
        known = graph.int64(call.tensor("split_sizes"))
    count = len(outputs) if known is None else None
    return graph.nodes("Split", x, known, outputs=len(outputs), axis=axis, num_outputs=count)


@op("tile")
def tile(call: Call) -> Tensor:
    x, reps = call.tensor("x"), call.tensor("reps")
    if reps.constant is not None and (reps.constant.array == 1).all():
        return x
    return call.graph.node("Tile", x, call.graph.int64(reps))


@op("pad")
def pad(call: Call) -> Tensor:
    """MIL lists (before, after) of the last axes, ONNX all befores and then all afters."""
    graph, x, amounts = call.graph, call.tensor("x"), call.tensor("pad")
    mode = call.text("mode", "constant")
    value = call.number("constant_val", 0.0)
    names = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}
    if mode not in names:
        raise call.unsupported(f"unknown mode {mode!r}")
    if amounts.constant is not None:
        pairs = amounts.constant.array.reshape(-1, 2)
        pairs = np.pad(pairs, ((x.rank - len(pairs), 0), (0, 0)))
        if not pairs.any():
            return x
        pads = graph.ints(pairs.T.reshape(-1))
    else:
        table = graph.node("Reshape", graph.int64(amounts), graph.ints([-1, 2]))
        table = graph.node("Transpose", table, perm=[1, 0])
        pads = graph.node("Reshape", table, graph.ints([-1]))
    filler = graph.scalar(value, x) if mode == "constant" else None
    return graph.node("Pad", x, pads, filler, mode=names[mode])


@op("shape")
def shape(call: Call) -> Tensor:
    return _sizes(call, call.tensor("x"))


@op("fill")
def fill(call: Call) -> Tensor:
    value, sizes = _filler(call), call.tensor("shape")
    return call.graph.node("Expand", value, call.graph.int64(sizes))


@op("fill_like")
def fill_like(call: Call) -> Tensor:
    value = _filler(call)
    return call.graph.node("Expand", value, _sizes(call, call.tensor("ref_tensor")))


def _sizes(call: Call, x: Tensor) -> Tensor:
    known = [size for size in x.dims if size is not None]
    if len(known) == x.rank:
        return call.graph.ints(known)
    return call.graph.node("Shape", x, dtype="int64")


def _filler(call: Call) -> Tensor:
    value = call.optional("value")
    return call.graph.constant(0.0, "fp32") if value is None else value


@op("range_1d")
def range_1d(call: Call) -> Tensor:
    """A count that is known is that of the program's own precision."""
    graph, (count,) = call.graph, call.out.shape
    start, end, step = (call.tensor(name) for name in ("start", "end", "step"))
    if count is None or start.dtype == "int32":
        return graph.node("Range", start, end, step)
    steps = graph.constant(np.arange(count), start.dtype)
    return graph.node("Add", start, graph.node("Mul", steps, step))


@op("cumsum")
def cumsum(call: Call) -> Tensor:
    axis = call.graph.constant(call.integer("axis", 0), "int64")
    return call.graph.node(
        "CumSum",
        call.tensor("x"),
        axis,
        exclusive=int(call.flag("exclusive", False)),
        reverse=int(call.flag("reverse", False)),
    )


@op("band_part")
def band_part(call: Call) -> Tensor:
    """Keeps ``lower`` diagonals below the main one and ``upper`` above it; negative is all."""
    graph, x = call.graph, call.tensor("x")
    lower, upper = call.integer("lower", -1), call.integer("upper", -1)
    result = graph.cast(x, "int64" if x.dtype in ("int32", "bool") else "fp32")
    if lower >= 0:
        result = graph.node("Trilu", result, graph.constant(-lower, "int64"), upper=1)
    if upper >= 0:
        result = graph.node("Trilu", result, graph.constant(upper, "int64"), upper=0)
    return result


@op("one_hot")
def one_hot(call: Call) -> Tensor:
    graph, indices = call.graph, call.tensor("indices")
    axis = call.integer("axis", -1) % (indices.rank + 1)
    on, off = call.optional("on_value"), call.optional("off_value")
    shape = [1] * (indices.rank + 1)
    shape[axis] = -1
    places = np.arange(call.integer("one_hot_vector_size")).reshape(shape)
    apart = graph.node("Unsqueeze", indices, graph.ints([axis]))
    hot = graph.node("Equal", apart, graph.constant(places, indices.dtype), dtype="bool")
    on = on or graph.constant(1, "int32")
    off = off or graph.constant(0, "int32")
    return graph.where(hot, on, off)


@op("non_zero")
def non_zero(call: Call) -> Tensor:
    found = call.graph.node("NonZero", call.tensor("x"), dtype="int64")
    return call.graph.node("Transpose", found, perm=[1, 0])


@op("topk")
def topk(call: Call) -> tuple[Tensor, ...]:
    k = call.integer("k", 1)
    count = _whole_axis(call) if k == -1 else call.graph.ints([k])
    return _sorted(call, count)[: len(call.operation.outputs)]


@op("argsort")
def argsort(call: Call) -> Tensor:
    return _sorted(call, _whole_axis(call))[1]


def _whole_axis(call: Call) -> Tensor:
    """The size of the axis, in a vector."""
    axis = call.graph.ints([call.integer("axis", -1)])
    sizes = call.graph.node("Shape", call.tensor("x"), dtype="int64")
    return call.graph.node("Gather", sizes, axis)


def _sorted(call: Call, count: Tensor) -> tuple[Tensor, Tensor]:
    # Sorted is one of the allowed orders; the outputs' number and types tell the rest.
    call.ignore("sort", "return_indices", "output_indices_dtype")
    x = call.tensor("x")
    values, indices = call.graph.nodes(
        "TopK",
        x,
        count,
        outputs=2,
        axis=call.integer("axis", -1),
        largest=int(not call.flag("ascending", False)),
    )
    return values, Tensor(indices.name, "int64", indices.shape)


@op("sliding_windows")
def sliding_windows(call: Call) -> Tensor:
    x = call.tensor("x")
    axis = call.integer("axis") % x.rank
    length, size, stride = x.dims[axis], call.integer("size"), call.integer("stride", 1)
    if length is None:
        raise call.unsupported("the size of the axis must be fixed")
    starts = np.arange(0, length - size + 1, stride)
    places = starts[:, None] + np.arange(size)
    return call.graph.node("Gather", x, call.graph.constant(places, "int64"), axis=axis)
