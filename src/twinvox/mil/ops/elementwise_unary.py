"""Functions of one tensor, element by element."""

from twinvox.mil.graph import ONNX_DTYPES, Tensor
from twinvox.mil.ops import Call, op

_PLAIN = {
    "abs": "Abs",
    "acos": "Acos",
    "asin": "Asin",
    "atan": "Atan",
    "atanh": "Atanh",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "logical_not": "Not",
    "round": "Round",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
}


@op(*_PLAIN)
def plain(call: Call) -> Tensor:
    return call.graph.node(_PLAIN[call.kind], call.tensor("x"))


@op("square")
def square(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.graph.node("Mul", x, x)


@op("exp2")
def exp2(call: Call) -> Tensor:
    x = call.tensor("x")
    power = x if x.dtype != "int32" else call.graph.cast(x, "fp32")
    return call.graph.node("Pow", call.graph.scalar(2, power), power)


@op("log")
def log(call: Call) -> Tensor:
    return call.graph.node("Log", _shifted(call, 1e-45))


@op("rsqrt")
def rsqrt(call: Call) -> Tensor:
    return call.graph.node("Reciprocal", call.graph.node("Sqrt", _shifted(call, 1e-12)))


@op("inverse")
def inverse(call: Call) -> Tensor:
    return call.graph.node("Reciprocal", _shifted(call, 1e-4))


def _shifted(call: Call, default: float) -> Tensor:
    x = call.tensor("x")
    epsilon = call.graph.scalar(call.number("epsilon", default), x)
    if epsilon.constant is not None and not epsilon.constant.array.any():
        return x
    return call.graph.node("Add", x, epsilon)


@op("clip")
def clip(call: Call) -> Tensor:
    return call.graph.node("Clip", call.tensor("x"), call.tensor("alpha"), call.tensor("beta"))


@op("threshold")
def threshold(call: Call) -> Tensor:
    return call.graph.node("Max", call.tensor("x"), call.tensor("alpha"))


@op("cast")
def cast(call: Call) -> Tensor:
    """Narrow integers wrap here although they are computed in int32 afterwards."""
    x, dtype = call.tensor("x"), call.text("dtype")
    if dtype not in ONNX_DTYPES:
        raise call.unsupported(f"unknown dtype {dtype!r}")
    narrow = dtype in ("int8", "int16", "uint8", "uint16")
    return call.graph.cast(x, dtype if narrow else call.graph.computed(dtype))
