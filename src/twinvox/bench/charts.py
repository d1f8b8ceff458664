"""The charts of a report: first audio, real-time factor against length, and the stages."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

Json = dict[str, Any]

_OTHER = "other"
_LEGEND = {"frameon": False, "fontsize": 8}


def draw(report: Json) -> Figure:
    """The charts of a report in its JSON form."""
    spoken = [row for row in report["phrases"] if row["error"] is None]
    summary = report["summary"]
    picture = Figure(figsize=(13, 4.2), layout="constrained")
    picture.suptitle(
        _plain(
            f"{summary['backend']}, {summary['corpus']}: {len(spoken)} phrases, "
            f"threads: {summary['threads']}, {summary['machine']}"
        ),
        fontsize=10,
    )
    first_audio, speed, stages = picture.subplots(1, 3)
    _draw_first_audio(first_audio, spoken, summary)
    _draw_speed(speed, spoken)
    _draw_stages(stages, spoken)
    for axes in (first_audio, speed, stages):
        axes.spines[["top", "right"]].set_visible(False)
    return picture


def _draw_first_audio(axes: Axes, rows: Sequence[Json], summary: Json) -> None:
    axes.hist([row["ttft_ms"] for row in rows], bins="auto", color="tab:blue", alpha=0.75)
    for percent, style in ((50, "-"), (95, "--")):
        value = summary[f"ttft_ms_p{percent}"]
        label = f"{percent}th percentile: {value:.0f} ms"
        axes.axvline(value, color="black", linestyle=style, linewidth=1, label=label)
    axes.set_xlim(left=0)
    axes.set(title="first audio", xlabel="ms", ylabel="phrases")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(**_LEGEND)


def _draw_speed(axes: Axes, rows: Sequence[Json]) -> None:
    for category in dict.fromkeys(row["category"] for row in rows):
        own = [row for row in rows if row["category"] == category]
        seconds = [row["audio_ms"] / 1e3 for row in own]
        axes.scatter(seconds, [row["rtfx"] for row in own], s=18, label=_plain(category))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set(title="speed", xlabel="audio, s", ylabel="times real time")
    axes.legend(**_LEGEND)


def _draw_stages(axes: Axes, rows: Sequence[Json]) -> None:
    """Mean time of each stage; what no stage accounts for is on top."""
    categories = list(dict.fromkeys(row["category"] for row in rows))
    names = list(dict.fromkeys(name for row in rows for name in row["stage_ms"]))
    bottom = np.zeros(len(categories))
    for name in [*names, _OTHER]:
        means = np.array(
            [
                _mean(_stage(row, name) for row in rows if row["category"] == category)
                for category in categories
            ]
        )
        colour = "lightgrey" if name == _OTHER else None
        axes.bar(range(len(categories)), means, bottom=bottom, label=name, color=colour)
        bottom += means
    axes.set(title="stages", ylabel="ms a phrase, mean")
    axes.set_xticks(range(len(categories)), map(_plain, categories), rotation=30, ha="right")
    axes.legend(**_LEGEND)


def _plain(name: str) -> str:
    """A name as it is: matplotlib would set what stands between dollar signs as a formula."""
    return name.replace("$", r"\$")


def _stage(row: Json, name: str) -> float:
    """Milliseconds of a stage. Stages that overlap leave nothing for the rest."""
    stages: dict[str, float] = row["stage_ms"]
    if name != _OTHER:
        return stages.get(name, 0.0)
    return max(float(row["synth_ms"]) - sum(stages.values()), 0.0)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
