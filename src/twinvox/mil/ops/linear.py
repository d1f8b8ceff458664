"""Matrix products."""

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op
from twinvox.mil.quantize import quantizable, quantized_product
from twinvox.mil.rewrite import product, reshape, transpose


@op("linear")
def linear(call: Call) -> Tensor:
    graph, x = call.graph, call.tensor("x")
    weight = graph.cast(call.tensor("weight"), x.dtype)
    bias = call.optional("bias")
    if bias is not None:
        bias = graph.cast(bias, x.dtype)
        if bias.constant is not None and not bias.constant.array.any():
            bias = None
    if x.dtype == "int32" or x.rank == 1 or x.dims.count(None) > 1:
        result = product(graph, x, weight, transpose_y=True)
        return result if bias is None else graph.node("Add", result, bias)
    rows = reshape(graph, x, (None, x.dims[-1])) if x.rank > 2 else x
    if constant := quantizable(graph, x, weight):
        result = quantized_product(graph, rows, constant, bias, transposed=True)
    else:
        shape = (rows.dims[0], weight.dims[0])
        result = graph.node("Gemm", rows, weight, bias, shape=shape, transB=1)
    return reshape(graph, result, call.out.shape)


@op("matmul")
def matmul(call: Call) -> Tensor:
    graph, x, y = call.graph, call.tensor("x"), call.tensor("y")
    if x.constant is None:  # a constant is in the dtype of what is not
        y = graph.cast(y, x.dtype)
    x = graph.cast(x, y.dtype)
    transpose_x = call.flag("transpose_x", False)
    transpose_y = call.flag("transpose_y", False)
    weight = quantizable(graph, x, y)
    if weight and not transpose_x and x.rank > 1 and None not in x.dims:
        rows = reshape(graph, x, (None, x.dims[-1]))
        result = quantized_product(graph, rows, weight, None, transposed=transpose_y)
        return reshape(graph, result, call.out.shape)
    return product(graph, x, y, transpose_x=transpose_x, transpose_y=transpose_y)


@op("einsum")
def einsum(call: Call) -> Tensor:
    """The product over axis -1 of the first and -3 of the second operand: bchw,bwhu->bchu."""
    x, y = call.tensors("values")
    letters: dict[str, str] = {}
    equation = call.text("equation").replace(" ", "")
    canonical = "".join(
        char if char in ",->" else letters.setdefault(char, chr(ord("a") + len(letters)))
        for char in equation
    )
    if canonical not in ("abcd,adce->abce", "abc,cbd->abd"):
        return call.graph.node("Einsum", x, y, equation=equation)
    swap = [0, 2, 1, 3][-x.rank :] if x.rank == 4 else [1, 0, 2]
    result = product(call.graph, transpose(call.graph, x, swap), transpose(call.graph, y, swap))
    return transpose(call.graph, result, swap)
