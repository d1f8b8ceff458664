"""Normalisations."""

import numpy as np

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op
from twinvox.mil.rewrite import reshape


@op("layer_norm")
def layer_norm(call: Call) -> Tensor:
    graph, x = call.graph, call.tensor("x")
    axes = sorted(axis % x.rank for axis in call.ints("axes", list(range(x.rank))))
    gamma, beta = (call.like(name, x) if call.given(name) else None for name in ("gamma", "beta"))
    epsilon = call.number("epsilon", 1e-5)
    sizes = [size for axis in axes if (size := x.dims[axis]) is not None]
    if gamma is None and len(sizes) == len(axes):
        gamma = graph.constant(np.ones(sizes), x.dtype)
    if gamma is not None and axes == list(range(axes[0], x.rank)):
        return graph.node("LayerNormalization", x, gamma, beta, axis=axes[0], epsilon=epsilon)
    index = graph.ints(axes)
    centred = graph.node("Sub", x, graph.node("ReduceMean", x, index))
    variance = graph.node("ReduceMean", graph.node("Mul", centred, centred), index)
    deviation = graph.node("Sqrt", graph.node("Add", variance, graph.scalar(epsilon, x)))
    result = graph.node("Div", centred, deviation)
    for op_type, factor in (("Mul", gamma), ("Add", beta)):
        if factor is not None:
            shape = [1] * x.rank
            for axis, size in zip(axes, call.static(factor), strict=True):
                shape[axis] = size
            result = graph.node(op_type, result, reshape(graph, factor, tuple(shape)))
    return result


@op("batch_norm")
def batch_norm(call: Call) -> Tensor:
    graph, x = call.graph, call.tensor("x")
    mean, variance = (graph.cast(call.tensor(name), x.dtype) for name in ("mean", "variance"))
    gamma, beta = _scale_and_offset(call, x, graph.ints(call.static(mean)))
    epsilon = call.number("epsilon", 1e-5)
    return graph.node("BatchNormalization", x, gamma, beta, mean, variance, epsilon=epsilon)


@op("instance_norm")
def instance_norm(call: Call) -> Tensor:
    graph, x = call.graph, call.tensor("x")
    channels = graph.node("Shape", x, dtype="int64", start=1, end=2)
    gamma, beta = _scale_and_offset(call, x, channels)
    epsilon = call.number("epsilon", 1e-5)
    return graph.node("InstanceNormalization", x, gamma, beta, epsilon=epsilon)


def _scale_and_offset(call: Call, x: Tensor, channels: Tensor) -> tuple[Tensor, Tensor]:
    """gamma and beta, by default ones and zeros for each of the ``channels``."""
    graph = call.graph
    gamma, beta = call.optional("gamma"), call.optional("beta")
    gamma = gamma or graph.node("Expand", graph.scalar(1.0, x), channels)
    beta = beta or graph.node("Expand", graph.scalar(0.0, x), channels)
    return graph.cast(gamma, x.dtype), graph.cast(beta, x.dtype)


@op("l2_norm")
def l2_norm(call: Call) -> Tensor:
    """Over the last three axes."""
    graph, x = call.graph, call.tensor("x")
    squares = graph.node("ReduceSumSquare", x, graph.ints([-3, -2, -1]))
    offset = graph.node("Add", squares, graph.scalar(call.number("epsilon", 1e-6), x))
    return graph.node("Div", x, graph.node("Sqrt", offset))
