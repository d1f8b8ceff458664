"""Reductions over axes; ``axes`` left out means all of them."""

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op

_EXACT = {
    "reduce_max": "ReduceMax",
    "reduce_mean": "ReduceMean",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
    "reduce_sum": "ReduceSum",
    "reduce_sum_square": "ReduceSumSquare",
    "reduce_l1_norm": "ReduceL1",
}
_IRRATIONAL = {
    "reduce_l2_norm": "ReduceL2",
    "reduce_log_sum": "ReduceLogSum",
    "reduce_log_sum_exp": "ReduceLogSumExp",
}
_INDEX = {"reduce_argmax": "ArgMax", "reduce_argmin": "ArgMin"}


@op(*_EXACT)
def exact(call: Call) -> Tensor:
    return _reduce(call, _EXACT[call.kind], call.tensor("x"))


@op(*_IRRATIONAL)
def irrational(call: Call) -> Tensor:
    """Integers are reduced as floats; the result loses its fraction."""
    x = call.tensor("x")
    x = call.graph.cast(x, "fp32") if x.dtype == "int32" else x
    return _reduce(call, _IRRATIONAL[call.kind], x)


def _reduce(call: Call, op_type: str, x: Tensor) -> Tensor:
    graph, axes = call.graph, call.ints("axes", None)
    axes = list(range(x.rank)) if axes is None else axes
    keep = call.flag("keep_dims", False)
    if not axes:  # which are all of them to ONNX
        x, axes, keep = graph.node("Unsqueeze", x, graph.ints([-1])), [-1], False
    return graph.node(op_type, x, graph.ints(axes), keepdims=int(keep))


@op(*_INDEX)
def index(call: Call) -> Tensor:
    """The first of equal ones; MIL promises no particular one."""
    call.ignore("output_dtype")  # the declared output says the same
    return call.graph.node(
        _INDEX[call.kind],
        call.tensor("x"),
        dtype="int64",
        axis=call.integer("axis", -1),
        keepdims=int(call.flag("keep_dims", False)),
    )
