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
    return graph.node("Floor", graph.node("Div", x, y))


@op("mod")
def mod(call: Call) -> Tensor:
    """The remainder has the sign of the divisor."""
    graph, x, y = operands(call)
    if x.dtype == "int32":
        return graph.node("Mod", x, y)
    whole = graph.node("Floor", graph.node("Div", x, y))
    return graph.node("Sub", x, graph.node("Mul", whole, y))
