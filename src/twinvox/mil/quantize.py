"""Products with a constant matrix in int8.

For one row the time goes into reading the matrix, so each block of 64 values has a scale of its own
on either side (MatMulNBits). For more rows it goes into the product: there is one scale for each
column and one for all that the other operand holds (DynamicQuantizeMatMul), which is several times
as fast there and less exact.
"""

from functools import partial

import numpy as np

from twinvox.mil.graph import MICROSOFT, Graph, Tensor
from twinvox.mil.program import Array, Constant

_BLOCK = 64  # values with one scale; 896 and 4864, the widths of Qwen2-0.5B, are multiples
_LARGEST = 127
_ZERO_POINT = 128  # of unsigned 8-bit blocks, onnxruntime's default
_LEAST_SIZE = 4096  # elements; smaller matrices cost more to quantise for than they save


def quantizable(graph: Graph, x: Tensor, weight: Tensor) -> Constant | None:
    """The constant behind the matrix ``weight``, if its product with ``x`` is to be in int8."""
    constant = weight.constant
    if not graph.quantize or x.dtype != "fp32" or constant is None:
        return None
    return constant if len(constant.shape) == 2 and constant.size >= _LEAST_SIZE else None


def quantized_product(
    graph: Graph, rows: Tensor, weight: Constant, bias: Tensor | None, *, transposed: bool
) -> Tensor:
    """``rows`` [n, inner] times ``weight`` [inner, columns], or where it is ``transposed`` the
    transpose of [columns, inner], plus ``bias``."""
    array = weight.array if transposed else weight.array.T
    columns, inner = array.shape
    one_row = rows.dims[0] == 1
    make = _blocks if one_row else _columns
    values, scales = graph.derived(weight, (make, transposed), partial(make, graph, array))
    shape = (rows.dims[0], columns)
    if one_row:
        return graph.node(
            "MatMulNBits",
            rows,
            values,
            scales,
            None,
            None,
            bias,
            shape=shape,
            domain=MICROSOFT,
            K=inner,
            N=columns,
            bits=8,
            block_size=_BLOCK,
            accuracy_level=4,  # int8 arithmetic
        )
    return graph.node(
        "DynamicQuantizeMatMul",
        rows,
        values,
        scales,
        None,
        bias,
        shape=shape,
        domain=MICROSOFT,
    )


def _blocks(graph: Graph, weight: Array) -> tuple[Tensor, Tensor]:
    """The operands of a MatMulNBits: uint8 [columns, blocks, _BLOCK] and a scale a block."""
    columns, inner = weight.shape
    padded = np.pad(weight, ((0, 0), (0, -inner % _BLOCK)))
    values, scales = _quantize(padded.reshape(columns, -1, _BLOCK))
    return (
        graph.constant((values + _ZERO_POINT).astype(np.uint8), "uint8"),
        graph.constant(scales, "fp32"),
    )


def _columns(graph: Graph, weight: Array) -> tuple[Tensor, Tensor]:
    """The operands of a DynamicQuantizeMatMul: int8 [inner, columns] and a scale a column."""
    values, scales = _quantize(weight)
    return graph.constant(values.T.astype(np.int8), "int8"), graph.constant(scales, "fp32")


def _quantize(weight: Array) -> tuple[Array, Array]:
    """Integers in -127..127, still float32, and the scale of each vector of the last axis."""
    weight = weight.astype(np.float32)
    scales = np.abs(weight).max(axis=-1) / np.float32(_LARGEST)
    return np.rint(weight / np.where(scales > 0, scales, 1)[..., None]), scales
