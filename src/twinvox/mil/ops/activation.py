"""Activations."""

from twinvox.mil.graph import MICROSOFT, Tensor
from twinvox.mil.ops import Call, op

_PLAIN = {
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "softplus": "Softplus",
    "softsign": "Softsign",
    "tanh": "Tanh",
}


@op(*_PLAIN)
def plain(call: Call) -> Tensor:
    return call.graph.node(_PLAIN[call.kind], call.tensor("x"))


@op("relu6")
def relu6(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.graph.node("Clip", x, call.graph.scalar(0, x), call.graph.scalar(6, x))


@op("elu")
def elu(call: Call) -> Tensor:
    return call.graph.node("Elu", call.tensor("x"), alpha=call.number("alpha"))


@op("leaky_relu")
def leaky_relu(call: Call) -> Tensor:
    return call.graph.node("LeakyRelu", call.tensor("x"), alpha=call.number("alpha"))


@op("thresholded_relu")
def thresholded_relu(call: Call) -> Tensor:
    x, graph = call.tensor("x"), call.graph
    above = graph.node("GreaterOrEqual", x, call.like("alpha", x), dtype="bool")
    return graph.where(above, x, graph.scalar(0, x))


@op("clamped_relu")
def clamped_relu(call: Call) -> Tensor:
    leaky = call.graph.node("LeakyRelu", call.tensor("x"), alpha=call.number("alpha"))
    return call.graph.node("Min", leaky, call.like("beta", leaky))


@op("linear_activation")
def linear_activation(call: Call) -> Tensor:
    x = call.tensor("x")
    scaled = call.graph.node("Mul", x, call.like("alpha", x))
    return call.graph.node("Add", scaled, call.like("beta", x))


@op("scaled_tanh")
def scaled_tanh(call: Call) -> Tensor:
    x = call.tensor("x")
    inner = call.graph.node("Mul", x, call.like("beta", x))
    return call.graph.node("Mul", call.graph.node("Tanh", inner), call.like("alpha", x))


@op("sigmoid_hard")
def sigmoid_hard(call: Call) -> Tensor:
    return call.graph.node(
        "HardSigmoid", call.tensor("x"), alpha=call.number("alpha"), beta=call.number("beta")
    )


@op("silu")
def silu(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.graph.node("Mul", x, call.graph.node("Sigmoid", x))


@op("gelu")
def gelu(call: Call) -> Tensor:
    x, mode = call.tensor("x"), call.text("mode", "EXACT")
    if mode == "SIGMOID_APPROXIMATION":
        return call.graph.node("QuickGelu", x, domain=MICROSOFT, alpha=1.702)
    approximate = {"EXACT": "none", "TANH_APPROXIMATION": "tanh"}.get(mode)
    if approximate is None:
        raise call.unsupported(f"unknown mode {mode!r}")
    return call.graph.node("Gelu", x, approximate=approximate)


@op("softmax")
def softmax(call: Call) -> Tensor:
    return call.graph.node("Softmax", call.tensor("x"), axis=call.integer("axis", -1))


@op("prelu")
def prelu(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.graph.node("PRelu", x, per_channel(call, "alpha", x))


@op("softplus_parametric")
def softplus_parametric(call: Call) -> Tensor:
    x = call.tensor("x")
    inner = call.graph.node("Mul", x, per_channel(call, "beta", x))
    return call.graph.node("Mul", call.graph.node("Softplus", inner), per_channel(call, "alpha", x))


def per_channel(call: Call, name: str, x: Tensor) -> Tensor:
    """A [channels] constant shaped to meet axis 1 of ``x``."""
    values = call.array(name)
    return call.graph.constant(values.reshape(-1, *[1] * (x.rank - 2)), x.dtype)
