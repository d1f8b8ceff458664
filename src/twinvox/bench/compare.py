"""Two stored reports side by side."""

from typing import Any

from twinvox.bench.report import figure, table

Json = dict[str, Any]

_FIGURES = (
    "agg_rtfx", "cold_start_s", "first_synth_ms", "ttft_ms_p50", "ttft_ms_p95",
    "warm_synth_ms_p50", "warm_synth_ms_p95", "peak_rss_mb", "macro_wer", "macro_cer",
)  # fmt: skip
_SAME = (
    "backend", "corpus", "phrase_count", "voice", "runtime", "compute_units", "precision",
    "threads", "machine", "asr_backend",
)  # fmt: skip


def compare(old: Json, new: Json) -> Json:
    """The figures of both summaries and categories, with ``ratio`` new by old.

    ``differences`` names what else differs: such figures do not compare.
    """
    rows = [_row(name, old["summary"].get(name), new["summary"].get(name)) for name in _FIGURES]
    before, after = ({row["category"]: row for row in run["categories"]} for run in (old, new))
    for category in after | before:
        a, b = before.get(category, {}), after.get(category, {})
        rows += [
            _row(f"{category}: {name}", a.get(name), b.get(name))
            for name in ("synth_ms_p50", "rtfx", "macro_wer", "macro_cer")
        ]
    pairs = {name: (old["summary"].get(name), new["summary"].get(name)) for name in _SAME}
    # FluidAudio's harness stops at the first failure.
    pairs["failed_count"] = tuple(run["summary"].get("failed_count", 0) for run in (old, new))
    pairs["texts"] = (_texts(old), _texts(new))
    return {
        "figures": [row for row in rows if row["old"] is not None or row["new"] is not None],
        "differences": [name for name, (a, b) in pairs.items() if a != b],
    }


def _row(name: str, old: float | None, new: float | None) -> Json:
    ratio = None if old is None or new is None or not old else round(new / old, 4)
    return {"figure": name, "old": old, "new": new, "ratio": ratio}


def _texts(report: Json) -> list[str]:
    return [row["reference"] for row in report["phrases"]]


def markdown(comparison: Json) -> str:
    """The comparison as a table, with an arrow towards what is better."""
    rows = [
        (
            f"{row['figure']} {'↑' if row['figure'].endswith('rtfx') else '↓'}",
            figure(row["old"]),
            figure(row["new"]),
            figure(row["ratio"]),
        )
        for row in comparison["figures"]
    ]
    return table(("", "old", "new", "new / old"), rows)
