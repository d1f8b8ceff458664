"""Reshapes, transposes, matrix products and softplus without avoidable work.

Converters leave many transposes behind. One that moves only dimensions of size 1 copies nothing
and is a reshape; one that swaps the last two before a product is a flag of that product; heads
repeated for grouped-query attention need not be copied at all. A softplus written out needs no
mask where it overflows.
"""

from collections.abc import Callable, Sequence
from math import inf, prod

from twinvox.mil.graph import MICROSOFT, Graph, Tensor
from twinvox.mil.program import Shape

_LARGE = {"fp32": 80.0, "fp16": 10.0}  # exp of it is finite, and log(exp(x) + 1) rounds to x
_LARGEST_EPSILON = 1e-30


def reshape(graph: Graph, x: Tensor, shape: Shape) -> Tensor:
    """``x`` with the sizes of ``shape``, of which at most one may be None (the rest)."""
    x = _input_of(graph, x, "Reshape") or x
    if None in shape and x.shape is not None and None not in x.shape:
        rest = _size(x.shape) // max(_size(shape), 1)
        shape = tuple(rest if size is None else size for size in shape)
    if x.shape == shape and None not in shape:
        return x
    sizes = graph.ints(-1 if size is None else size for size in shape)
    return graph.node("Reshape", x, sizes, shape=shape)


def _size(shape: Shape) -> int:
    return prod(size for size in shape if size is not None)


def transpose(graph: Graph, x: Tensor, perm: Sequence[int]) -> Tensor:
    """Axis ``i`` of the result is axis ``perm[i]`` of ``x``."""
    perm = [axis % x.rank for axis in perm]
    source = _input_of(graph, x, "Transpose")
    if source is not None:
        inner = _perm(graph, x)
        x, perm = source, [inner[axis] for axis in perm]
    if perm == sorted(perm):
        return x
    shape = tuple(x.dims[axis] for axis in perm)
    moved = [axis for axis in perm if x.dims[axis] != 1]
    if moved == sorted(moved) and shape.count(None) <= 1:
        return reshape(graph, x, shape)
    return graph.node("Transpose", x, shape=shape, perm=perm)


def swap_last(graph: Graph, x: Tensor) -> Tensor:
    axes = list(range(x.rank))
    return transpose(graph, x, [*axes[:-2], axes[-1], axes[-2]])


def product(
    graph: Graph,
    x: Tensor,
    y: Tensor,
    *,
    transpose_x: bool = False,
    transpose_y: bool = False,
) -> Tensor:
    """The matrix product of the last two axes, broadcast over the others as NumPy does."""
    transpose_x = transpose_x and x.rank > 1
    transpose_y = transpose_y and y.rank > 1
    if x.dtype not in ("fp32", "fp16"):
        x = swap_last(graph, x) if transpose_x else x
        y = swap_last(graph, y) if transpose_y else y
        return graph.node("MatMul", x, y)
    x, transpose_x = _absorb(graph, x, transpose_x)
    y, transpose_y = _absorb(graph, y, transpose_y)
    heads = None if transpose_x else _repeated_heads(graph, x, y)
    if heads is None:
        return _matmul(graph, x, y, transpose_x, transpose_y)
    batch, groups = heads.dims[:2]
    rows, inner = x.dims[2:]
    stacked = reshape(graph, x, (batch, groups, None, inner))
    columns = heads.dims[2 if transpose_y else 3]
    result = _matmul(graph, stacked, heads, False, transpose_y)
    return reshape(graph, result, (batch, x.dims[1], rows, columns))


def _matmul(graph: Graph, x: Tensor, y: Tensor, transpose_x: bool, transpose_y: bool) -> Tensor:
    shape = _product_shape(x.dims, y.dims, transpose_x, transpose_y)
    if not (transpose_x or transpose_y):
        return graph.node("MatMul", x, y, shape=shape)
    return graph.node(
        "FusedMatMul",
        x,
        y,
        shape=shape,
        domain=MICROSOFT,
        transA=int(transpose_x),
        transB=int(transpose_y),
    )


def _product_shape(x: Shape, y: Shape, transpose_x: bool, transpose_y: bool) -> Shape:
    rows = () if len(x) == 1 else (x[-1 if transpose_x else -2],)
    columns = () if len(y) == 1 else (y[-2 if transpose_y else -1],)
    return (*broadcast(x[:-2], y[:-2]), *rows, *columns)


def broadcast(x: Shape, y: Shape) -> Shape:
    """The common shape; None where a size is not known and no other one decides."""
    rank = max(len(x), len(y))
    pairs = zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y, strict=True)
    return tuple(
        b if a == 1 else a if b == 1 or a == b else (b if a is None and b != 1 else a)
        for a, b in pairs
    )


def _absorb(graph: Graph, x: Tensor, transposed: bool) -> tuple[Tensor, bool]:
    """The operand before a transpose of its last two axes, and the flag that makes up for it."""
    source = _input_of(graph, x, "Transpose")
    if source is None:
        return x, transposed
    *lead, row, column = _perm(graph, x)
    last = len(lead) + 1
    if lead == list(range(len(lead))) and (row, column) == (last, last - 1):
        return source, not transposed
    return x, transposed


def _repeated_heads(graph: Graph, x: Tensor, y: Tensor) -> Tensor | None:
    """The tensor [batch, groups, rows, columns] of which ``y`` repeats every group in place, as
    grouped-query attention does: queries of one group share it, so they are rows of one product.

    That is y = reshape(tile(h), [batch, groups * repeats, rows, columns]) with h of
    [batch, groups, 1, rows, columns], and x of [batch, groups * repeats, queries, inner].
    """
    tiled = _input_of(graph, y, "Reshape")
    single = None if tiled is None else _input_of(graph, tiled, "Tile")
    if tiled is None or single is None or single.rank != tiled.rank or single.rank != 5:
        return None
    if None in single.dims or None in tiled.dims or None in x.dims or x.rank != 4:
        return None
    batch, groups, one, rows, columns = single.dims
    repeats = tiled.dims[2]
    heads = (groups or 0) * (repeats or 0)
    if one != 1 or tiled.dims != (batch, groups, repeats, rows, columns):
        return None
    if y.dims != (batch, heads, rows, columns) or x.dims[:2] != (batch, heads):
        return None
    return reshape(graph, single, (batch, groups, rows, columns))


def softplus(graph: Graph, mask: Tensor, x: Tensor, log: Tensor) -> Tensor | None:
    """log(exp(x) + 1), where that is ``log`` and ``mask`` takes ``x`` for it where it is infinite;
    None where they are anything else.

    The larger of ``x`` and a logarithm that cannot overflow is the same without the mask and the
    choice. ONNX Runtime's own Softplus is slower than either.
    """
    masked = _beside(graph, mask, "Equal", lambda scalar: scalar == inf)
    total = _operand(graph, log, "Log")
    total = _beside(graph, total, "Add", lambda scalar: 0 <= scalar < _LARGEST_EPSILON) or total
    exponent = _operand(graph, _beside(graph, total, "Add", lambda scalar: scalar == 1), "Exp")
    if masked is None or exponent is None or x.dtype not in _LARGE:
        return None
    if (masked.name, exponent.name) != (log.name, x.name):
        return None
    exponential = graph.node("Exp", graph.node("Min", x, graph.scalar(_LARGE[x.dtype], x)))
    total = graph.node("Add", exponential, graph.scalar(1, x))
    return graph.node("Max", x, graph.node("Log", total), shape=x.shape)


def _operand(graph: Graph, tensor: Tensor | None, op_type: str) -> Tensor | None:
    """The first operand of the node that makes ``tensor``, where that node is an ``op_type``."""
    node = None if tensor is None else graph.producer(tensor)
    return node.inputs[0] if node is not None and node.op_type == op_type else None


def _beside(
    graph: Graph, tensor: Tensor | None, op_type: str, accepts: Callable[[float], bool]
) -> Tensor | None:
    """What stands beside a scalar that is accepted in the node that makes ``tensor``, where that
    node is an ``op_type`` of two operands."""
    node = None if tensor is None else graph.producer(tensor)
    if node is None or node.op_type != op_type:
        return None
    for operand, scalar in (node.inputs, node.inputs[::-1]):
        constant = None if scalar is None else scalar.constant
        if constant is not None and constant.shape == () and accepts(float(constant.array)):
            return operand
    return None


def _input_of(graph: Graph, tensor: Tensor, op_type: str) -> Tensor | None:
    """As ``_operand``, where the operand's shape is known."""
    operand = _operand(graph, tensor, op_type)
    return None if operand is None or operand.shape is None else operand


def _perm(graph: Graph, transposed: Tensor) -> list[int]:
    node = graph.producer(transposed)
    return [] if node is None else list(node.attributes["perm"])
