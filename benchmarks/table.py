"""One table of a whole run: each hot path, ours beside every peer, and how many times faster."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

HEADER = ("hot path", "case", "twinvox", "peer", "its time", "ratio", "also")
_OURS = "twinvox"
_UNITS = (("s", 1), ("ms", 1e3), ("us", 1e6))


def _is_ours(benchmark: Any) -> bool:
    """A benchmark is ours by the start of its function's name, or by a parameter ``name``."""
    return _side(benchmark).startswith(_OURS)


def rows(benchmarks: Sequence[Any]) -> Iterator[tuple[str, ...]]:
    """The cells of the table.

    Within a group a peer stands beside those of ours that agree in every parameter that both have.
    In a group where nothing is called ours all is, and has no peer.
    """
    for group, members in _groups(benchmarks).items():
        ours = [member for member in members if _is_ours(member)] or members
        peers = [member for member in members if member not in ours]
        for own in ours:
            start = (group, _case(own), duration(own.stats.median))
            also = ", ".join(f"{name} {value}" for name, value in own.extra_info.items())
            beside = [peer for peer in peers if _agree(own, peer)]
            for peer in beside:
                ratio = peer.stats.median / own.stats.median
                yield (*start, _side(peer), duration(peer.stats.median), f"{ratio:.2f}x", also)
            if not beside:
                yield (*start, "-", "-", "-", also)


def _groups(benchmarks: Iterable[Any]) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for benchmark in benchmarks:
        groups.setdefault(benchmark.group or benchmark.fullname, []).append(benchmark)
    return groups


def _side(benchmark: Any) -> str:
    """Who is measured."""
    named = (benchmark.params or {}).get("name")
    function = benchmark.name.partition("[")[0].removeprefix("test_")
    return str(named or function.removeprefix("load_"))


def _case(benchmark: Any) -> str:
    """What tells a benchmark of ours from the others of its group."""
    variant = _side(benchmark).removeprefix(_OURS).strip("_").replace("_", " ")
    parameters = [part for part in (benchmark.param or "").split("-") if part != _OURS]
    return " ".join(filter(None, [variant, "-".join(parameters)]))


def _agree(own: Any, peer: Any) -> bool:
    a, b = own.params or {}, peer.params or {}
    return all(a[key] == b[key] for key in a.keys() & b.keys() - {"name"})


def duration(seconds: float) -> str:
    unit, factor = next((pair for pair in _UNITS if seconds * pair[1] >= 1), _UNITS[-1])
    return f"{seconds * factor:.3g} {unit}"


def layout(cells: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines with aligned columns."""
    lines = [HEADER, *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip()
