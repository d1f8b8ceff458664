"""Compressed constants, decompressed when a session loads the graph."""

from math import prod
from typing import Any

import numpy as np

from twinvox.mil.graph import Graph, Tensor
from twinvox.mil.ops import Call, op

_BYTE = 8


@op("constexpr_cast")
def constexpr_cast(call: Call) -> Tensor:
    call.ignore("output_dtype")
    return call.tensor("source_val")


@op("constexpr_affine_dequantize")
def constexpr_affine_dequantize(call: Call) -> Tensor:
    """scale * (quantized_data - zero_point), the parameters along one axis."""
    data = call.raw("quantized_data")
    shape = [1] * data.rank
    shape[call.integer("axis")] = -1
    scale, zero_point = call.array("scale"), call.array("zero_point")
    if scale.ndim:
        scale = scale.reshape(shape)
    if zero_point.ndim:
        zero_point = zero_point.reshape(shape)
    return _dequantized(call.graph, data, scale, zero_point)


@op("constexpr_blockwise_shift_scale")
def constexpr_blockwise_shift_scale(call: Call) -> Tensor:
    """scale * (data - offset); every entry of scale and offset serves a block of data."""
    graph, data, scale = call.graph, call.raw("data"), call.array("scale")
    sizes = call.static(data)
    cells, blocks = _blocks(sizes, scale.shape)
    offset = call.array("offset", None)
    apart = graph.node("Reshape", data, graph.ints(cells), shape=tuple(cells))
    offset = np.zeros(1) if offset is None else offset.reshape(blocks)
    result = _dequantized(graph, apart, scale.reshape(blocks), offset)
    return graph.node("Reshape", result, graph.ints(sizes))


def _blocks(sizes: tuple[int, ...], counts: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Shapes that put every block of an axis on an axis of its own, for data and parameters."""
    cells: list[int] = []
    parameters: list[int] = []
    for size, count in zip(sizes, counts, strict=True):
        cells += [count, size // count]
        parameters += [count, 1]
    return cells, parameters


def _dequantized(
    graph: Graph, data: Tensor, scale: "np.ndarray[Any, Any]", offset: "np.ndarray[Any, Any]"
) -> Tensor:
    dtype = "fp32" if graph.promote or scale.dtype == np.float32 else "fp16"
    result = graph.cast(data, dtype)
    if offset.any():
        result = graph.node("Sub", result, graph.constant(offset, dtype))
    return graph.node("Mul", result, graph.constant(scale, dtype))


@op("constexpr_lut_to_dense")
def constexpr_lut_to_dense(call: Call) -> Tensor:
    if call.given("shape"):
        return _packed_lut(call)
    graph, indices, lut = call.graph, call.raw("indices"), call.tensor("lut")
    call.ignore("vector_axis")
    sizes, table = call.static(indices), call.static(lut)
    counts, entries, vector = table[:-2], table[-2], table[-1]
    if vector != 1:
        raise call.unsupported(f"vector look-up tables (of {vector}) are not supported")
    cells, blocks = _blocks(sizes, counts)
    index = graph.cast(indices, "int32")
    if prod(counts) > 1:
        first = np.arange(prod(counts)).reshape(blocks) * entries
        index = graph.node("Reshape", index, graph.ints(cells))
        index = graph.node("Add", index, graph.constant(first, "int32"))
    flat = graph.node("Reshape", lut, graph.ints([-1]))
    dense = graph.node("Gather", flat, index, dtype=lut.dtype)
    return graph.node("Reshape", dense, graph.ints(sizes))


def _packed_lut(call: Call) -> Tensor:
    """Indices of 1, 2, 4, 6 or 8 bits, packed from the least significant bit on."""
    graph, packed, lut = call.graph, call.raw("indices"), call.tensor("lut")
    sizes = call.ints("shape")
    count, entries = prod(sizes), call.static(lut)[0]
    width = entries.bit_length() - 1
    if _BYTE % width == 0:
        fields = _bit_fields(graph, packed, width)
    else:
        bits = graph.node("Reshape", _bit_fields(graph, packed, 1), graph.ints([-1]))
        bits = _head(graph, bits, count * width)
        bits = graph.node("Reshape", bits, graph.ints([-1, width]))
        weights = graph.constant(1 << np.arange(width), "int32")
        weighted = graph.node("Mul", graph.cast(bits, "int32"), weights)
        fields = graph.node("ReduceSum", weighted, graph.ints([1]), keepdims=0)
    flat = _head(graph, graph.node("Reshape", fields, graph.ints([-1])), count)
    dense = graph.node("Gather", lut, graph.cast(flat, "int32"), dtype=lut.dtype)
    return graph.node("Reshape", dense, graph.ints(sizes))


def _bit_fields(graph: Graph, packed: Tensor, width: int) -> Tensor:
    """[bytes] -> [bytes, 8 / width], lowest bits first."""
    if width == _BYTE:
        return packed
    column = graph.node("Unsqueeze", packed, graph.ints([-1]))
    shifts = graph.constant(np.arange(0, _BYTE, width), "uint8")
    shifted = graph.node("BitShift", column, shifts, direction="RIGHT")
    return graph.node("BitwiseAnd", shifted, graph.constant((1 << width) - 1, "uint8"))


def _head(graph: Graph, vector: Tensor, count: int) -> Tensor:
    return graph.node("Slice", vector, graph.ints([0]), graph.ints([count]))
