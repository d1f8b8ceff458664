"""A report as report.md, with its charts in report.png beside it.

The functions take a report in its JSON form, so that one that was stored can be drawn again.
"""

import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from twinvox.errors import RuntimeUnavailableError

Json = dict[str, Any]

_TITLES = {
    "cold_start_s": "loading the models, s",
    "first_synth_ms": "first synthesis, ms",
    "ttft_ms_p50": "first audio, median, ms",
    "ttft_ms_p95": "first audio, 95th percentile, ms",
    "warm_synth_ms_p50": "whole phrase, median, ms",
    "warm_synth_ms_p95": "whole phrase, 95th percentile, ms",
    "agg_rtfx": "real-time factor",
    "peak_rss_mb": "peak memory before scoring, MB",
    "macro_wer": "word error rate, %",
    "macro_cer": "character error rate, %",
}
_COLUMNS = {
    "phrase_count": "phrases",
    "macro_wer": "WER, %",
    "macro_cer": "CER, %",
    "synth_ms_p50": "median, ms",
    "synth_ms_p95": "95th percentile, ms",
    "rtfx": "real-time factor",
}


def check_charts() -> None:
    """Raise RuntimeUnavailableError where charts cannot be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise RuntimeUnavailableError(
            "a report's charts need matplotlib: pip install 'twinvox[report]'"
        )


def write_report(report: Json, folder: Path) -> None:
    """Write report.md and report.png into ``folder``."""
    from twinvox.bench.charts import draw

    folder.mkdir(parents=True, exist_ok=True)
    draw(report).savefig(folder / "report.png", dpi=120)
    (folder / "report.md").write_text(markdown(report), encoding="utf-8")


def markdown(report: Json) -> str:
    summary = report["summary"]
    skipped = summary["asr_skip_reason"]
    heard = f"not scored: {skipped}" if skipped else f"heard by {summary['asr_backend']}"
    blocks = [
        f"# twinvox bench: {summary['backend']}, {summary['corpus']}",
        f"{summary['phrase_count']} phrases ({summary['corpus_source']}), voice "
        f"{summary['voice']}, seed {summary['seed']}. Runtime {summary['runtime']}, compute units "
        f"{summary['compute_units']}, {summary['precision']}, threads: {summary['threads']}. "
        f"{summary['machine']}. twinvox {summary['version']}. Speech {heard}.",
        "![first audio, real-time factor and stages](report.png)",
        table(("", ""), ((title, _cell(name, summary[name])) for name, title in _TITLES.items())),
        "## By category",
        table(
            ("category", *_COLUMNS.values()),
            (
                (row["category"], *(_cell(name, row[name]) for name in _COLUMNS))
                for row in report["categories"]
            ),
        ),
        *_section("Heard otherwise", ("#", "said", "heard", "WER, %", "CER, %"), _misheard(report)),
        *_section("Not spoken", ("#", "text", "why"), _failed(report)),
    ]
    return "\n\n".join(blocks) + "\n"


def _misheard(report: Json) -> list[tuple[str, ...]]:
    rows = [row for row in report["phrases"] if row["wer"] or row["cer"]]
    return [
        (
            str(row["index"]),
            row["reference"],
            row["hypothesis"],
            _cell("wer", row["wer"]),
            _cell("cer", row["cer"]),
        )
        for row in sorted(rows, key=lambda row: row["cer"], reverse=True)
    ]


def _failed(report: Json) -> list[tuple[str, ...]]:
    return [
        (str(row["index"]), row["reference"], row["error"])
        for row in report["phrases"]
        if row["error"] is not None
    ]


def _section(title: str, header: Sequence[str], rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    return (f"## {title}", table(header, rows)) if rows else ()


def _cell(name: str, value: float | None) -> str:
    """A figure; rates of error in percent."""
    is_rate = name.endswith(("wer", "cer"))
    return figure(100 * value if is_rate and value is not None else value)


def figure(value: float | None) -> str:
    """A number with three significant digits, or all of its whole part."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
        for line in lines
    )
