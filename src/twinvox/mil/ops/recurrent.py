"""Recurrent layers."""

from dataclasses import replace
from typing import Any

import numpy as np

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op
from twinvox.mil.rewrite import reshape, transpose

_ACTIVATIONS: dict[str, tuple[str, list[float]]] = {
    "sigmoid": ("Sigmoid", []),
    "tanh": ("Tanh", []),
    "scaled_tanh": ("Tanh", []),  # its factors cannot be given and default to 1
    "relu": ("Relu", []),
    "hard_sigmoid": ("HardSigmoid", [0.2, 0.5]),
    "linear": ("Affine", [1.0, 0.0]),
}
"""ONNX names, with (alpha, beta) for those that have them."""

_DEFAULTS = {"recurrent_activation": "sigmoid", "cell_activation": "tanh", "activation": "tanh"}


@op("lstm")
def lstm(call: Call) -> tuple[Tensor, Tensor, Tensor]:
    """MIL joins the directions along the last axis, ONNX keeps an axis for them. Reversed alone,
    MIL returns the outputs in the order it makes them: the last input comes first."""
    graph, x = call.graph, call.tensor("x")
    if call.given("clip"):
        raise call.unsupported("clip of the cell state")
    direction = call.text("direction", "forward")
    ways = ["", "_back"] if direction == "bidirectional" else [""]
    if len(ways) == 1:
        call.ignore("weight_ih_back", "weight_hh_back", "bias_back", "peephole_back")
    if direction == "reverse":
        first, beyond, back = graph.ints([-1]), graph.ints([-(2**63)]), graph.ints([-1])
        x = replace(graph.node("Slice", x, first, beyond, graph.ints([0]), back), shape=x.shape)
    elif direction not in ("forward", "bidirectional"):
        raise call.unsupported(f"unknown direction {direction!r}")
    hidden = call.static(call.tensor("weight_hh"))[1]
    weight = _gates(call, "weight_ih", ways, hidden)
    recurrent = _gates(call, "weight_hh", ways, hidden)
    states = [_apart(call, name, len(ways), hidden) for name in ("initial_h", "initial_c")]
    y, last_h, last_c = graph.nodes(
        "LSTM",
        x,
        weight,
        recurrent,
        _bias(call, ways, hidden, x),
        None,
        *states,
        _gates(call, "peephole", ways, hidden) if call.given("peephole") else None,
        outputs=3,
        hidden_size=hidden,
        direction="bidirectional" if len(ways) == 2 else "forward",
        **_activations(call, len(ways)),
    )
    steps, batch = x.dims[:2]
    h, c = (_joined(call, state, len(ways), batch, hidden) for state in (last_h, last_c))
    if not call.flag("output_sequence", False):
        return graph.node("Unsqueeze", h, graph.ints([0])), h, c
    y = replace(y, shape=(steps, len(ways), batch, hidden))
    together = transpose(graph, y, [0, 2, 1, 3])
    every = graph.node("Reshape", together, graph.ints([0, 0, len(ways) * hidden]))
    return every, h, c


def _activations(call: Call, ways: int) -> dict[str, Any]:
    chosen = []
    for parameter, default in _DEFAULTS.items():
        name = call.text(parameter, default)
        if name not in _ACTIVATIONS:
            raise call.unsupported(f"unknown {parameter} {name!r}")
        chosen.append(_ACTIVATIONS[name])
    factors = [factors for _, factors in chosen * ways if factors]
    return {
        "activations": [name for name, _ in chosen * ways],
        "activation_alpha": [alpha for alpha, _ in factors] or None,
        "activation_beta": [beta for _, beta in factors] or None,
    }


def _gates(call: Call, name: str, ways: list[str], hidden: int) -> Tensor:
    """A parameter of all directions, [directions, gates * hidden, ...], its gates in the order of
    ONNX: input, output, forget, cell where MIL has input, forget, output, cell. ``ways`` holds a
    suffix of the parameter's name for each direction."""
    graph = call.graph
    parts = [call.tensor(name + way) for way in ways]
    size, *rest = call.static(parts[0])
    gates = size // hidden
    apart = [reshape(graph, part, (1, gates, hidden, *rest)) for part in parts]
    joined = apart[0] if len(apart) == 1 else graph.node("Concat", *apart, axis=0)
    order = graph.ints([0, 2, 1, 3][:gates])
    ordered = graph.node("Gather", joined, order, axis=1)
    return graph.node("Reshape", ordered, graph.ints([len(ways), size, *rest]))


def _bias(call: Call, ways: list[str], hidden: int, x: Tensor) -> Tensor | None:
    """ONNX has a second bias, of the recurrent product."""
    if not call.given("bias"):
        return None
    graph = call.graph
    bias = graph.cast(_gates(call, "bias", ways, hidden), x.dtype)
    zeros = graph.constant(np.zeros((len(ways), 4 * hidden)), x.dtype)
    return graph.node("Concat", bias, zeros, axis=1)


def _apart(call: Call, name: str, ways: int, hidden: int) -> Tensor:
    """A state [batch, directions * hidden] as [directions, batch, hidden]."""
    state = call.tensor(name)
    split = reshape(call.graph, state, (state.dims[0], ways, hidden))
    return transpose(call.graph, split, [1, 0, 2])


def _joined(call: Call, state: Tensor, ways: int, batch: int | None, hidden: int) -> Tensor:
    """A state [directions, batch, hidden] as [batch, directions * hidden]."""
    apart = replace(state, shape=(ways, batch, hidden))
    return reshape(call.graph, transpose(call.graph, apart, [1, 0, 2]), (batch, ways * hidden))
