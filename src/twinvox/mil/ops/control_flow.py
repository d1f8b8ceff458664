"""Choice between values; loops and branches are not supported."""

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op
from twinvox.mil.rewrite import softplus


@op("select")
def select(call: Call) -> Tensor:
    cond, a, b = call.tensor("cond"), call.tensor("a"), call.tensor("b")
    graph = call.graph
    return softplus(graph, cond, a, b) or graph.where(graph.cast(cond, "bool"), a, b)
