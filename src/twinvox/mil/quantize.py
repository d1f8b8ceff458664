"""Products with a constant matrix in int8.

For one row the time goes into reading the matrix, so each block of 64 values has a scale of its own
on either side (MatMulNBits). For more rows it goes into the product: there is one scale for each
column and one for all that the other operand holds (DynamicQuantizeMatMul), which is several times
as fast there and less exact.
"""

import numpy as np

from twinvox.mil.graph import MICROSOFT, Graph, Tensor
from twinvox.mil.program import Array

_BLOCK = 64  # values with one scale; 896 and 4864, the widths of Qwen2-0.5B, are multiples
_LARGEST = 127
_ZERO_POINT = 128  # of unsigned 8-bit blocks, onnxruntime's default
_LEAST_SIZE = 4096  # elements; smaller matrices cost more to quantise for than they save


def worth_quantizing(graph: Graph, x: Tensor, weight: Tensor) -> bool:
    """Whether the product of ``x`` and the matrix ``weight`` is to be computed in int8."""
    constant = weight.constant
    return (
        graph.quantize
        and x.dtype == "fp32"
        and constant is not None
        and len(constant.shape) == 2
        and constant.size >= _LEAST_SIZE
    )


def quantized_product(graph: Graph, rows: Tensor, weight: Array, bias: Tensor | None) -> Tensor:
    """``rows`` [n, inner] times the transpose of ``weight`` [columns, inner], plus ``bias``."""
    columns, inner = weight.shape
    weight = weight.astype(np.float32)
    n_rows = rows.dims[0]
    shape = (n_rows, columns)
    if n_rows == 1:
        padding = -inner % _BLOCK
        blocks = np.pad(weight, ((0, 0), (0, padding))).reshape(columns, -1, _BLOCK)
        values, scales = _quantize(blocks)
        return graph.node(
            "MatMulNBits",
            rows,
            graph.constant((values + _ZERO_POINT).astype(np.uint8), "uint8"),
            graph.constant(scales, "fp32"),
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
    values, scales = _quantize(weight)
    return graph.node(
        "DynamicQuantizeMatMul",
        rows,
        graph.constant(values.T.astype(np.int8), "int8"),
        graph.constant(scales, "fp32"),
        None,
        bias,
        shape=shape,
        domain=MICROSOFT,
    )


def _quantize(weight: Array) -> tuple[Array, Array]:
    """Integers in -127..127, still float32, and the scale of each vector of the last axis."""
    scales = np.abs(weight).max(axis=-1) / np.float32(_LARGEST)
    return np.rint(weight / np.where(scales > 0, scales, 1)[..., None]), scales
