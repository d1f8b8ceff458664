"""Functions of two tensors, element by element, broadcast as NumPy does."""

from twinvox.mil.graph import Graph, Tensor
from twinvox.mil.ops import Call, op

_ARITHMETIC = {
    "add": "Add",
    "maximum": "Max",
    "minimum": "Min",
    "mul": "Mul",
    "pow": "Pow",
    "real_div": "Div",
    "sub": "Sub",
}
_COMPARISON = {
    "equal": "Equal",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_xor": "Xor",
}


def operands(call: Call) -> tuple[Graph, Tensor, Tensor]:
    x, y = call.tensor("x"), call.tensor("y")
    return call.graph, x, call.graph.cast(y, x.dtype)


@op(*_ARITHMETIC)
def arithmetic(call: Call) -> Tensor:
    graph, x, y = operands(call)
    return graph.node(_ARITHMETIC[call.kind], x, y)


@op(*_COMPARISON)
def comparison(call: Call) -> Tensor:
    graph, x, y = operands(call)
    return graph.node(_COMPARISON[call.kind], x, y, dtype="bool")


@op("not_equal")
def not_equal(call: Call) -> Tensor:
    graph, x, y = operands(call)
    return graph.node("Not", graph.node("Equal", x, y, dtype="bool"))


@op("floor_div")
def floor_div(call: Call) -> Tensor:
    graph, x, y = operands(call)
    if x.dtype == "int32":  # Div truncates
        return graph.node("Div", graph.node("Sub", x, graph.node("Mod", x, y)), y)
    quotient = graph.node("Div", x, y)
    whole = graph.node("Floor", quotient)
    # A quotient that was rounded up to a whole number has nearly all of the divisor left over.
    twice = graph.node("Mul", _remainder(graph, x, y), graph.scalar(2, x))
    sizes = (graph.node("Abs", twice), graph.node("Abs", y))
    much = graph.node("GreaterOrEqual", *sizes, dtype="bool")
    is_whole = graph.node("Equal", quotient, whole, dtype="bool")
    rounded_up = graph.node("And", is_whole, much)
    return graph.where(rounded_up, graph.node("Sub", whole, graph.scalar(1, x)), whole)


@op("mod")
def mod(call: Call) -> Tensor:
    graph, x, y = operands(call)
    return graph.node("Mod", x, y) if x.dtype == "int32" else _remainder(graph, x, y)


def _remainder(graph: Graph, x: Tensor, y: Tensor) -> Tensor:
    """What is left of a division rounded down, exactly: it has the sign of the divisor, where
    ONNX gives it that of the dividend."""
    left = graph.node("Mod", x, y, fmod=1)
    signed = graph.node("Mul", graph.node("Sign", left), y)
    differs = graph.node("Less", signed, graph.scalar(0, x), dtype="bool")
    return graph.where(differs, graph.node("Add", left, y), left)
