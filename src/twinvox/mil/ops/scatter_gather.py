"""Reading and writing at indices. ONNX checks them where MIL leaves the result open."""

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op
from twinvox.mil.rewrite import transpose

_REDUCTIONS = {"update": "none", "add": "add", "mul": "mul", "min": "min", "max": "max"}


@op("gather")
def gather(call: Call) -> Tensor:
    graph, x, indices = call.graph, call.tensor("x"), call.tensor("indices")
    call.ignore("validate_indices")
    axis = call.integer("axis", 0) % x.rank
    batch = call.integer("batch_dims", 0)
    if batch == 0:
        return graph.node("Gather", x, indices, axis=axis)
    between = axis - batch
    if between < 0:
        raise call.unsupported(f"axis {axis} is one of the {batch} batch_dims")
    rest = range(axis + 1, x.rank)
    first = transpose(graph, x, [*range(batch), axis, *range(batch, axis), *rest])
    apart = graph.node("Unsqueeze", graph.int64(indices), graph.ints([-1]))
    found = graph.node("GatherND", first, apart, dtype=x.dtype, batch_dims=batch)
    if not between:
        return found
    picked = indices.rank
    rank = x.rank - 1 + picked - batch
    perm = [*range(batch), *range(picked, picked + between), *range(batch, picked)]
    return graph.node("Transpose", found, perm=[*perm, *range(picked + between, rank)])


@op("gather_along_axis")
def gather_along_axis(call: Call) -> Tensor:
    call.ignore("validate_indices")
    x, indices = call.tensor("x"), call.tensor("indices")
    return call.graph.node("GatherElements", x, indices, axis=call.integer("axis", 0))


@op("gather_nd")
def gather_nd(call: Call) -> Tensor:
    call.ignore("validate_indices")
    x, indices = call.tensor("x"), call.graph.int64(call.tensor("indices"))
    return call.graph.node("GatherND", x, indices, batch_dims=call.integer("batch_dims", 0))


@op("scatter")
def scatter(call: Call) -> Tensor:
    """One index for each slice of ``updates`` along ``axis``."""
    graph, data, updates = call.graph, call.tensor("data"), call.tensor("updates")
    indices = graph.int64(call.tensor("indices"))
    axis = call.integer("axis", 0) % data.rank
    if axis == 0:
        apart = graph.node("Unsqueeze", indices, graph.ints([-1]))
        return _scatter(call, "ScatterND", data, apart, updates)
    column = graph.node("Unsqueeze", indices, graph.ints(range(1, data.rank - axis)))
    sizes = graph.node("Shape", updates, dtype="int64")
    everywhere = graph.node("Expand", column, sizes)
    return _scatter(call, "ScatterElements", data, everywhere, updates, axis=axis)


@op("scatter_along_axis")
def scatter_along_axis(call: Call) -> Tensor:
    data, indices, updates = (call.tensor(name) for name in ("data", "indices", "updates"))
    axis = call.integer("axis", 0)
    return _scatter(call, "ScatterElements", data, indices, updates, axis=axis)


@op("scatter_nd")
def scatter_nd(call: Call) -> Tensor:
    data, indices, updates = (call.tensor(name) for name in ("data", "indices", "updates"))
    return _scatter(call, "ScatterND", data, call.graph.int64(indices), updates)


def _scatter(
    call: Call,
    op_type: str,
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: int | None = None,
) -> Tensor:
    graph = call.graph
    call.ignore("validate_indices")
    mode = call.text("mode", "add")
    if mode != "update" and data.dtype == "fp16":  # onnxruntime combines no halves
        data, updates = graph.cast(data, "fp32"), graph.cast(updates, "fp32")
    if mode == "sub":
        mode, updates = "add", graph.node("Neg", updates)
    if mode == "div":
        if data.dtype == "int32":
            raise call.unsupported("mode div of integers")
        sizes = graph.node("Shape", data, dtype="int64")
        ones = graph.node("Expand", graph.scalar(1.0, data), sizes)
        divisors = graph.node(op_type, ones, indices, updates, axis=axis, reduction="mul")
        return graph.node("Div", data, divisors)
    if mode not in _REDUCTIONS:
        raise call.unsupported(f"unknown mode {mode!r}")
    return graph.node(op_type, data, indices, updates, axis=axis, reduction=_REDUCTIONS[mode])
