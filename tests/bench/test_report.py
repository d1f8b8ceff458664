"""What is made of the figures: percentiles, comparisons, reports."""

import json
import re
import sys

import pytest

from twinvox.bench import run as bench_run
from twinvox.bench.compare import compare
from twinvox.bench.result import percentile, read_json
from twinvox.cli import main
from twinvox.errors import ModelFormatError, TwinvoxError


def test_percentiles_are_of_the_nearest_rank():
    assert percentile([], 50) is None
    assert percentile([3.0, None, 1.0, 2.0], 50) == 2.0
    values = list(range(1, 101))
    assert [percentile(values, p) for p in (0, 50, 95, 100)] == [1, 51, 95, 100]


def test_compare(measured, tmp_path, capsys):
    folder, old = measured
    new = json.loads(json.dumps(old))
    new["summary"] |= {"agg_rtfx": 2 * old["summary"]["agg_rtfx"], "machine": "another"}
    new["categories"][0]["synth_ms_p50"] /= 4
    path = tmp_path / "new.json"
    path.write_text(json.dumps(new))
    assert main(["bench", "--compare", str(folder / "new" / "a.json"), str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    figures = {row["figure"]: row["ratio"] for row in json.loads(out)["figures"]}
    assert figures["agg_rtfx"] == 2
    assert figures["short: synth_ms_p50"] == 0.25
    assert figures["ttft_ms_p50"] == 1
    assert "macro_wer" not in figures, "what neither measured"
    assert "the runs differ in machine: compare with care" in err
    assert main(["bench", "--compare", str(path), str(path)]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"\| agg_rtfx ↑ \| .* \| 1 \|", out)
    assert err == ""


def test_compare_with_a_category_that_is_new(measured):
    _, new = measured
    old = json.loads(json.dumps(new))
    del old["categories"][0], old["phrases"][0]
    result = compare(old, new)
    row = next(row for row in result["figures"] if row["figure"] == "short: rtfx")
    assert (row["old"], row["ratio"]) == (None, None)
    assert row["new"] == new["categories"][0]["rtfx"]
    assert result["differences"] == ["texts"]


def test_compare_with_a_category_that_is_gone(measured):
    _, old = measured
    new = json.loads(json.dumps(old))
    del new["categories"][0], new["phrases"][0]
    result = compare(old, new)
    row = next(row for row in result["figures"] if row["figure"] == "short: rtfx")
    assert (row["new"], row["ratio"]) == (None, None)
    assert row["old"] == old["categories"][0]["rtfx"]


def test_compare_tells_of_failed_phrases(measured):
    """Figures are of the phrases that were spoken, so they may be of fewer in one run."""
    old, new = (json.loads(json.dumps(measured[1])) for _ in range(2))
    new["summary"]["failed_count"] = 2
    assert compare(old, new)["differences"] == ["failed_count"]
    del old["summary"]["failed_count"]  # as in FluidAudio's files
    new["summary"]["failed_count"] = 0
    assert compare(old, new)["differences"] == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "no benchmark"),
        ("{", "not JSON"),
        ('{"summary": 1, "categories": [], "phrases": []}', "no benchmark"),
        ('{"summary": {}, "categories": [1], "phrases": []}', "no benchmark"),
        ('{"summary": {}, "categories": {}, "phrases": [{}]}', "no benchmark"),
    ],
)
def test_compare_refuses_other_files(content, message, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(ModelFormatError, match=message):
        read_json(path)
    with pytest.raises(TwinvoxError, match="cannot read"):
        read_json(tmp_path / "missing.json")


def test_a_report_needs_matplotlib_before_anything_is_measured(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(bench_run, "run_benchmark", lambda *_, **__: pytest.fail("measured"))
    assert main(["bench", "--report", str(tmp_path / "r"), "--skip-asr"]) == 1
    assert "pip install 'twinvox[report]'" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def scored(report):
    """The report as if it had been heard, one phrase wrong and one not spoken."""
    report = json.loads(json.dumps(report))
    for row in report["phrases"]:
        row |= {"hypothesis": row["reference"], "wer": 0.0, "cer": 0.0}
    report["phrases"][0] |= {"hypothesis": "a | b", "wer": 0.5, "cer": 0.25}
    report["phrases"][2] |= {"hypothesis": "c d", "wer": 1.0, "cer": 0.0}
    report["phrases"][1] |= {"error": "no\nway", "wer": None, "cer": None}
    report["summary"] |= {"macro_wer": 0.1, "asr_skip_reason": None, "asr_backend": "whisper"}
    return report


def test_the_markdown_report(measured):
    from twinvox.bench.report import markdown

    text = markdown(scored(measured[1]))
    assert "| word error rate, % | 10 |" in text
    assert "heard by whisper" in text
    assert "## Heard otherwise\n\n| # | said | heard | WER, % | CER, % |" in text
    assert r"| a \| b | 50 | 25 |" in text
    assert "| c d | 100 | 0 |" in text, "the same letters, other words"
    assert "## Not spoken" in text
    assert "| no way |" in text
    plain = markdown(measured[1])
    assert "not scored: not asked for" in plain
    assert "Heard otherwise" not in plain
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (3, 4, 6, 8), line


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_charts_show_the_figures(measured, tmp_path):
    pytest.importorskip("matplotlib")
    from twinvox.bench.charts import draw
    from twinvox.bench.report import write_report

    report = measured[1]
    first_audio, speed, stages = draw(report).axes
    assert sum(bar.get_height() for bar in first_audio.patches) == 6
    points = [tuple(map(float, p)) for dots in speed.collections for p in dots.get_offsets()]
    assert points == [(row["audio_ms"] / 1e3, row["rtfx"]) for row in report["phrases"]]
    tops = [bar.get_y() + bar.get_height() for bar in stages.containers[-1]]
    summed = [sum(bars[n].get_height() for bars in stages.containers) for n in range(len(tops))]
    assert summed == pytest.approx(tops)
    assert tops == pytest.approx([row["synth_ms"] for row in report["phrases"]])
    report = json.loads(json.dumps(report))
    report["summary"]["corpus"] = report["phrases"][0]["category"] = "$x_{$ and $5"
    title = draw(report).get_suptitle()
    assert title.startswith(r"embedded, \$x_{\$ and \$5: 6 phrases")
    write_report(report, tmp_path / "r")
    assert (tmp_path / "r" / "report.png").read_bytes().startswith(b"\x89PNG")
    assert "(report.png)" in (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
