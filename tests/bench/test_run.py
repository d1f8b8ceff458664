"""``twinvox bench``: what its figures mean, and that they belong together."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile

import twinvox
from tests import toy_cosyvoice3
from twinvox.asr import Transcript
from twinvox.bench import run as bench_run
from twinvox.bench.corpora import Corpus, Phrase
from twinvox.bench.result import Setting
from twinvox.bench.run import Scorer, run_benchmark
from twinvox.cli import main
from twinvox.errors import ModelFormatError, TextError
from twinvox.speech import Segment, Speech

SUMMARY = {
    "backend", "corpus", "corpus_source", "phrase_count", "failed_count", "voice", "seed",
    "runtime", "compute_units", "precision", "threads", "machine", "version", "cold_start_s",
    "first_synth_ms", "ttft_ms_p50", "ttft_ms_p95", "warm_synth_ms_p50", "warm_synth_ms_p95",
    "agg_rtfx", "peak_rss_mb", "macro_wer", "macro_cer", "asr_skipped", "asr_backend",
    "asr_skip_reason",
}  # fmt: skip
CATEGORY = {
    "category", "phrase_count", "macro_wer", "macro_cer", "synth_ms_p50", "synth_ms_p95", "rtfx",
}  # fmt: skip
PHRASE = {
    "index", "category", "reference", "hypothesis", "ttft_ms", "synth_ms", "audio_ms", "rtfx",
    "wer", "cer", "asr_ms", "stage_ms", "wav_path", "generated_token_count",
    "decoded_token_count", "finished_on_eos", "error",
}  # fmt: skip
SETTING = Setting("fake", "c", "ours", "v", 1, "onnx", "cpu_only", "fp32", 1, "a machine", "0")


class FakeModel:
    """Takes 10 ms of a fake clock to the first part and 30 ms to each further one."""

    def __init__(self, clock):
        self.clock = clock
        self.spoken = []

    def stream(self, text, voice, **options):
        if "unspeakable" in text:
            raise TextError("there is nothing to say")
        self.spoken.append((text, voice, options))
        for number, word in enumerate(text.split()):
            self.clock[0] += 0.03 if number else 0.01
            n_samples = 1000 if number else 0  # nothing to hear yet in the first
            samples = np.zeros(n_samples, np.float32)
            segment = Segment(word, 0.0, 1.0)
            yield Speech(samples, 8000, (segment,), {"flow": 0.005}, 1, None, None)


@pytest.fixture
def fake(monkeypatch):
    """A function that benchmarks the fake model on texts of category a."""
    clock = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    model = FakeModel(clock)

    def load():
        clock[0] += 2.0
        return model

    def measure(*texts, scorer=None, audio_dir=None):
        corpus = Corpus("c", "ours", tuple(Phrase("a", text) for text in texts))
        return run_benchmark(
            load, lambda _: "v", corpus, SETTING, options={"seed": 1}, audio_dir=audio_dir,
            scorer=scorer or Scorer(skip_reason="not asked for"), show=lambda items, _: items,
        )  # fmt: skip

    return model, measure


def test_what_the_times_mean(fake, tmp_path):
    model, measure = fake
    report = measure("one two three", "one two", audio_dir=tmp_path).to_json()
    first, second = report["phrases"]
    assert (first["ttft_ms"], first["synth_ms"]) == (40.0, 70.0)
    assert (second["ttft_ms"], second["synth_ms"]) == (40.0, 40.0)
    assert first["audio_ms"] == 250.0
    assert first["rtfx"] == pytest.approx(250 / 70, abs=1e-3)
    assert first["stage_ms"] == {"flow": 15.0}
    summary = report["summary"]
    assert (summary["cold_start_s"], summary["first_synth_ms"]) == (2.0, 70.0)
    assert summary["agg_rtfx"] == pytest.approx(375 / 110, abs=1e-3)
    assert [text for text, _, _ in model.spoken] == ["one two three"] * 2 + ["one two"]
    assert {(voice, *options.items()) for _, voice, options in model.spoken} == {("v", ("seed", 1))}


def test_a_phrase_that_cannot_be_spoken_costs_nothing_else(fake):
    _, measure = fake
    report = measure("unspeakable", "one two").to_json()
    failed, spoken = report["phrases"]
    assert (failed["error"], failed["synth_ms"]) == ("there is nothing to say", None)
    assert (spoken["error"], spoken["synth_ms"]) == (None, 40.0)
    assert (report["summary"]["phrase_count"], report["summary"]["failed_count"]) == (2, 1)
    assert report["summary"]["warm_synth_ms_p95"] == 40.0
    assert report["categories"][0]["phrase_count"] == 2
    with pytest.raises(TextError, match="nothing to say"):
        measure("unspeakable", "unspeakable too")


def test_scoring(fake):
    model, measure = fake

    class Listener:
        def transcribe(self, samples, sample_rate, *, language, timed=False):
            assert (sample_rate, language) == (16_000, "en")
            assert len(samples) == 2 * 1000
            assert not timed
            model.clock[0] += 0.5
            return Transcript("One  too!")

    def load():
        assert len(model.spoken) == 3, "the recogniser is loaded once all is spoken"
        return Listener()

    report = measure("one two", "one too", scorer=Scorer("mine", load)).to_json()
    first, second = report["phrases"]
    assert (first["hypothesis"], first["wer"], first["cer"]) == ("One  too!", 0.5, 0.16667)
    assert (second["wer"], second["cer"], second["asr_ms"]) == (0, 0, 500.0)
    assert (report["summary"]["macro_wer"], report["categories"][0]["macro_wer"]) == (0.25, 0.25)
    assert (report["summary"]["asr_skipped"], report["summary"]["asr_backend"]) == (False, "mine")
    assert not first["wav_path"], "the files are gone"


def test_a_recogniser_that_fails_costs_no_figure(fake):
    _, measure = fake

    def load():
        raise ModelFormatError("a broken model")

    with pytest.warns(UserWarning, match="not scored: a broken model"):
        report = measure("one two", scorer=Scorer("mine", load)).to_json()
    assert report["phrases"][0]["synth_ms"] == 40.0
    summary = report["summary"]
    assert (summary["asr_skipped"], summary["asr_skip_reason"]) == (True, "a broken model")


def test_a_recogniser_that_fails_in_the_middle_scores_nothing(fake):
    _, measure = fake

    class Listener:
        heard = 0

        def transcribe(self, *_, **__):
            self.heard += 1
            if self.heard == 2:
                raise RuntimeError("out of memory")
            return Transcript("one two")

    with pytest.warns(UserWarning, match="not scored: out of memory"):
        report = measure("one two", "one too", scorer=Scorer("mine", Listener)).to_json()
    assert {row["wer"] for row in report["phrases"]} == {None}
    assert {row["hypothesis"] for row in report["phrases"]} == {None}
    assert report["summary"]["macro_wer"] is None
    assert report["summary"]["asr_skip_reason"] == "out of memory"


def test_peak_memory_is_of_this_process():
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc")
    program = "from twinvox.bench.run import peak_rss_mb as peak; a = peak(); b = bytearray(2**26)"
    run = subprocess.run(
        [sys.executable, "-c", f"{program}; print(a, peak())"], capture_output=True, text=True
    )
    before, after = map(float, run.stdout.split())
    assert before < 64, "not that of the process that started it"
    assert 60 < after - before < 70


def test_the_fields(measured):
    _, report = measured
    assert report.keys() == {"summary", "categories", "phrases"}
    assert report["summary"].keys() == SUMMARY
    assert [row.keys() for row in report["categories"]] == [CATEGORY] * 6
    assert [row.keys() for row in report["phrases"]] == [PHRASE] * 6
    assert [row["index"] for row in report["phrases"]] == [1, 2, 3, 4, 5, 6]
    summary = report["summary"]
    assert (summary["backend"], summary["corpus"], summary["voice"]) == (
        "embedded", "english", "male",
    )  # fmt: skip
    assert (summary["asr_skipped"], summary["asr_skip_reason"]) == (True, "not asked for")
    assert (summary["threads"], summary["seed"]) == (1, 7)


def test_the_figures_belong_together(measured):
    folder, report = measured
    for row in report["phrases"]:
        info = soundfile.info(row["wav_path"])
        assert row["audio_ms"] == pytest.approx(info.frames / info.samplerate * 1e3, abs=1e-3)
        assert row["rtfx"] == pytest.approx(row["audio_ms"] / row["synth_ms"], abs=1e-3)
        assert row["ttft_ms"] <= row["synth_ms"]
        assert sum(row["stage_ms"].values()) <= row["synth_ms"] + 0.01
        assert row["wer"] is row["hypothesis"] is row["generated_token_count"] is None
    rows = report["phrases"]
    total = sum(row["audio_ms"] for row in rows) / sum(row["synth_ms"] for row in rows)
    assert report["summary"]["agg_rtfx"] == pytest.approx(total, abs=1e-3)
    long = max(rows, key=lambda row: row["audio_ms"])
    assert long["ttft_ms"] < long["synth_ms"], "the first of several segments is there earlier"
    twinvox.load(threads=1).synthesize(rows[0]["reference"], "male", seed=7).save(folder / "a.wav")
    assert (folder / "a.wav").read_bytes() == Path(rows[0]["wav_path"]).read_bytes()


def test_cosyvoice3(tmp_path, capsys):
    models = toy_cosyvoice3.write_folder(tmp_path / "toy", stop_after=8, nested=True)
    corpus = tmp_path / "zh.txt"
    corpus.write_text("\n".join(toy_cosyvoice3.SENTENCES[:2]), encoding="utf-8")
    chosen = ["--backend", "cv3", "--models-dir", str(models), "--threads", "1", "--skip-asr"]
    assert main(["bench", *chosen, "--corpus-path", str(corpus), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["summary"]["voice"] == "cosyvoice3-default-zh"
    for row in report["phrases"]:
        assert row["finished_on_eos"] is True
        assert row["generated_token_count"] == row["decoded_token_count"] > 0
        assert row["audio_ms"] == pytest.approx(40 * row["decoded_token_count"])
        assert {"prefill", "decode", "flow", "hift"} <= row["stage_ms"].keys()


def test_without_faster_whisper_nothing_is_scored(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    corpus = tmp_path / "c.txt"
    corpus.write_text("Hello.\n", encoding="utf-8")
    chosen = ["bench", "--corpus-path", str(corpus), "--threads", "1"]
    assert main([*chosen, "--json"]) == 0
    out, err = capsys.readouterr()
    summary = json.loads(out)["summary"]
    assert summary["asr_skipped"] is True
    assert "pip install 'twinvox[asr]'" in summary["asr_skip_reason"]
    assert "not scored" in err
    loads = []
    monkeypatch.setattr(bench_run, "run_benchmark", lambda *_, **__: loads.append(1))
    assert main([*chosen, "--asr-model", "base"]) == 1, "a recogniser that was asked for"
    assert not loads, "and found missing before anything is measured"


def test_where_nothing_can_be_written_nothing_is_measured(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench_run, "run_benchmark", lambda *_, **__: pytest.fail("measured"))
    with pytest.raises(SystemExit):
        main(["bench", "--skip-asr", "--output-json", str(tmp_path)])
    assert f"{tmp_path} is a folder; give a file" in capsys.readouterr().err


def test_a_failed_phrase_fails_the_command_after_all_is_written(tmp_path, capsys):
    corpus = tmp_path / "c.txt"
    corpus.write_text("Hello.\n?!\n", encoding="utf-8")
    out = tmp_path / "out.json"
    chosen = ["--threads", "1", "--skip-asr", "--output-json", str(out)]
    assert main(["bench", "--corpus-path", str(corpus), *chosen]) == 1
    assert "1 of 2 phrases could not be spoken; phrase 2:" in capsys.readouterr().err
    assert json.loads(out.read_text())["summary"]["failed_count"] == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--corpus", "english", "--corpus-path", "a.txt"],
        ["--corpus", "klingon"],
        ["--compare", "a.json"],
        ["--voice", "male", "--prompt-audio", "a.wav"],
        ["--backend", "cv3", "--speed", "2"],
        ["--no-chunking"],
    ],
)
def test_wrong_use(options, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["bench", *options])
    assert stopped.value.code == 2
    assert "usage:" in capsys.readouterr().err
