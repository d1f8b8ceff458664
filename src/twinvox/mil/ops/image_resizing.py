"""Resizing of the last two axes."""

from twinvox.mil.graph import Tensor
from twinvox.mil.ops import Call, op

_SAMPLING = {
    "DEFAULT": "asymmetric",
    "STRICT_ALIGN_CORNERS": "align_corners",
    "ALIGN_CORNERS": "align_corners",
    "UNALIGN_CORNERS": "half_pixel",
}


@op("upsample_nearest_neighbor")
def upsample_nearest_neighbor(call: Call) -> Tensor:
    graph, x = call.graph, call.tensor("x")
    scales = graph.constant(_factors(call), "fp32")
    return _resize(call, x, scales, "nearest", "asymmetric")


@op("upsample_bilinear")
def upsample_bilinear(call: Call) -> Tensor:
    graph, x = call.graph, call.tensor("x")
    corners = call.flag("align_corners", True)
    half = call.flag("half_pixel_centers", not corners)
    if corners and half:
        raise call.unsupported("align_corners and half_pixel_centers exclude each other")
    coordinates = "align_corners" if corners else "half_pixel" if half else "asymmetric"
    factors = _factors(call)
    now = graph.node("Shape", x, dtype="int64", start=x.rank - 2)
    wanted = graph.node("Mul", graph.cast(now, "fp32"), graph.constant(factors, "fp32"))
    sizes = graph.cast(graph.node("Floor", wanted), "int64")
    return _resize(call, x, sizes, "linear", coordinates)


@op("resize_nearest_neighbor")
def resize_nearest_neighbor(call: Call) -> Tensor:
    """Pixel i is pixel i * length // size. Resize divides by a scale that is rounded: where 14
    become 8 its fourth is 6, not 7."""
    graph, x = call.graph, call.tensor("x")
    for axis, end, name in ((-2, -1, "target_size_height"), (-1, None, "target_size_width")):
        size = call.integer(name)
        length = graph.node("Shape", x, dtype="int64", start=axis, end=end)
        product = graph.node("Mul", graph.ints(range(size)), length)
        places = graph.node("Div", product, graph.ints([size]))
        x = graph.node("Gather", x, places, axis=axis)
    return x


@op("resize_bilinear")
def resize_bilinear(call: Call) -> Tensor:
    sizes = [call.integer("target_size_height", 1), call.integer("target_size_width", 1)]
    sampling = call.text("sampling_mode", "DEFAULT")
    if sampling not in _SAMPLING or (sampling == "ALIGN_CORNERS" and 1 in sizes):
        raise call.unsupported(f"sampling_mode {sampling} to {sizes[0]} x {sizes[1]}")
    return _resize(call, call.tensor("x"), call.graph.ints(sizes), "linear", _SAMPLING[sampling])


def _factors(call: Call) -> list[float]:
    return [call.number("scale_factor_height", 1.0), call.number("scale_factor_width", 1.0)]


def _resize(call: Call, x: Tensor, target: Tensor, mode: str, coordinates: str) -> Tensor:
    """``target`` holds scales (fp32) or sizes (int64) of the two axes."""
    graph = call.graph
    scales, sizes = (target, None) if target.dtype == "fp32" else (None, target)
    images = x
    if x.rank != 4:
        last = graph.node("Shape", x, dtype="int64", start=x.rank - 2)
        flat = graph.node("Concat", graph.ints([1, -1]), last, axis=0)
        images = graph.node("Reshape", x, flat)
    resized = graph.node(
        "Resize",
        images,
        None,
        scales,
        sizes,
        axes=[2, 3],
        mode=mode,
        coordinate_transformation_mode=coordinates,
        nearest_mode="floor" if mode == "nearest" else None,
    )
    if x.rank == 4:
        return resized
    lead = graph.node("Shape", x, dtype="int64", end=x.rank - 2)
    last = graph.node("Shape", resized, dtype="int64", start=2)
    return graph.node("Reshape", resized, graph.node("Concat", lead, last, axis=0))
