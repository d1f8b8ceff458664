"""Reshaping and reordering."""

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op
from twinvox.mil.rewrite import reshape, transpose


@op("reshape")
def reshape_(call: Call) -> Tensor:
    """A size of 0 is that of ``x``, counted from the last axis; of an axis before the first, 1."""
    graph, x, shape = call.graph, call.tensor("x"), call.tensor("shape")
    if call.out.shape.count(None) <= 1:
        return reshape(graph, x, call.out.shape)
    sizes, added = graph.int64(shape), len(call.out.shape) - x.rank
    if added:  # ONNX counts from the first axis
        kept = graph.node("Shape", x, dtype="int64", start=max(-added, 0))
        if added > 0:
            kept = graph.node("Concat", graph.ints([1] * added), kept, axis=0)
        is_kept = graph.node("Equal", sizes, graph.ints([0]), dtype="bool")
        sizes = graph.where(is_kept, kept, sizes)
    return graph.node("Reshape", x, sizes)


@op("reshape_like")
def reshape_like(call: Call) -> Tensor:
    call.ignore("ref_tensors", "begins", "ends", "end_masks")
    return reshape(call.graph, call.tensor("x"), call.out.shape)


@op("flatten2d")
def flatten2d(call: Call) -> Tensor:
    x, axis = call.tensor("x"), call.integer("axis", 1)
    return call.graph.node("Flatten", x, axis=axis % x.rank if axis < 0 else axis)


@op("expand_dims")
def expand_dims(call: Call) -> Tensor:
    x, axes = call.tensor("x"), call.ints("axes")
    if call.out.shape.count(None) <= 1:
        return reshape(call.graph, x, call.out.shape)
    return call.graph.node("Unsqueeze", x, call.graph.ints(axes))


@op("squeeze")
def squeeze(call: Call) -> Tensor:
    """Axes that turn out not to be of size 1 stay, as in the MIL reference."""
    x = call.tensor("x")
    axes = call.ints("axes", list(range(x.rank)))
    if call.out.shape.count(None) <= 1:
        return reshape(call.graph, x, call.out.shape)
    single = [axis % x.rank for axis in axes if x.dims[axis] == 1]
    return call.graph.node("Squeeze", x, call.graph.ints(single)) if single else x


@op("transpose")
def transpose_(call: Call) -> Tensor:
    return transpose(call.graph, call.tensor("x"), call.ints("perm"))


@op("depth_to_space")
def depth_to_space(call: Call) -> Tensor:
    size = call.integer("block_size")
    return call.graph.node("DepthToSpace", call.tensor("x"), blocksize=size, mode="DCR")


@op("pixel_shuffle")
def pixel_shuffle(call: Call) -> Tensor:
    size = call.integer("upscale_factor")
    return call.graph.node("DepthToSpace", call.tensor("x"), blocksize=size, mode="CRD")


@op("space_to_depth")
def space_to_depth(call: Call) -> Tensor:
    return call.graph.node("SpaceToDepth", call.tensor("x"), blocksize=call.integer("block_size"))


@op("pixel_unshuffle")
def pixel_unshuffle(call: Call) -> Tensor:
    x, factor = call.tensor("x"), call.integer("downscale_factor")
    batch, channels, height, width = call.static(x)
    cells = (batch, channels, height // factor, factor, width // factor, factor)
    split = reshape(call.graph, x, cells)
    return reshape(call.graph, transpose(call.graph, split, [0, 1, 3, 5, 2, 4]), call.out.shape)
