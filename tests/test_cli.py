"""The command line in a process of its own where streams and exit codes matter, else in-process."""

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

import twinvox
from tests.backends.conftest import buzz
from twinvox import Voice
from twinvox._native.cpu import spectrum_kernels
from twinvox.cli import main

SENTENCE = "Hello there."


def run(*arguments, stdin=b""):
    return subprocess.run(
        [sys.executable, "-m", "twinvox", *arguments], input=stdin, capture_output=True
    )


@pytest.fixture
def prompt(tmp_path):
    path = tmp_path / "me.wav"
    soundfile.write(path, buzz(2.0), 24_000)
    return path


def test_say_writes_a_wav(tmp_path, capsys):
    out = tmp_path / "hello.wav"
    assert main(["say", SENTENCE, "-o", str(out)]) == 0
    info = soundfile.info(out)
    assert (info.samplerate, info.channels) == (48_000, 1)
    assert 0.3 < info.duration < 5
    assert str(out) in capsys.readouterr().out


def test_say_from_stdin_to_stdout_is_silent_elsewhere(tmp_path):
    out = tmp_path / "file.wav"
    piped = run("say", "-", "--runtime", "onnx", "-o", "-", stdin=SENTENCE.encode())
    assert (piped.returncode, piped.stderr) == (0, b"")
    assert main(["say", SENTENCE, "-o", str(out)]) == 0
    assert piped.stdout == out.read_bytes()
    assert soundfile.info(io.BytesIO(piped.stdout)).samplerate == 48_000


def test_say_from_a_file(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(SENTENCE)
    assert main(["say", "--text-file", str(text), "-o", str(tmp_path / "a.wav")]) == 0
    assert main(["say", SENTENCE, "-o", str(tmp_path / "b.wav")]) == 0
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()


def test_say_json(tmp_path, capsys):
    out = tmp_path / "a.wav"
    assert main(["say", SENTENCE, "-o", str(out), "--json", "--seed", "7"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report.keys() == {
        "output", "sample_rate", "samples", "seconds", "rtfx", "first_audio_ms", "segments",
        "seed", "finished_on_eos", "timings_ms",
    }  # fmt: skip
    assert report["samples"] == soundfile.info(out).frames
    assert (report["seed"], report["segments"][0]["text"]) == (7, SENTENCE)


def test_a_voice_made_once_speaks_as_its_recording(tmp_path, prompt):
    voice = tmp_path / "me.safetensors"
    text = "This is what I say."
    made = ["voice", "make", "--prompt-audio", str(prompt), "--prompt-text", text]
    assert main([*made, "-o", str(voice)]) == 0
    assert Voice.load(voice).prompt_text == text
    a, b = tmp_path / "a.wav", tmp_path / "b.wav"
    direct = ["--prompt-audio", str(prompt), "--prompt-text", text]
    assert main(["say", SENTENCE, "--voice", str(voice), "-o", str(a)]) == 0
    assert main(["say", SENTENCE, *direct, "-o", str(b)]) == 0
    assert a.read_bytes() == b.read_bytes()


def test_a_voice_is_checked_when_it_is_made(tmp_path, prompt, capsys):
    made = ["voice", "make", "--prompt-audio", str(prompt), "-o", str(tmp_path / "me.safetensors")]
    assert main([*made, "--prompt-text", "?!"]) == 1
    assert "nothing to say" in capsys.readouterr().err
    assert main([*made, "--prompt-text", "far too many words for that recording " * 10]) == 1
    assert "does not belong" in capsys.readouterr().err
    assert not (tmp_path / "me.safetensors").exists()


def test_phonemes(tmp_path, capsys):
    assert main(["g2p", SENTENCE]) == 0
    ipa = capsys.readouterr().out.strip()
    a, b = tmp_path / "a.wav", tmp_path / "b.wav"
    assert main(["say", ipa, "--phonemes", "-o", str(a)]) == 0
    assert main(["say", SENTENCE, "-o", str(b)]) == 0
    assert a.read_bytes() == b.read_bytes()


def test_g2p_corpus(tmp_path):
    corpus, out = tmp_path / "corpus.txt", tmp_path / "dump.jsonl"
    corpus.write_text("Hello there.\n\nGood bye.\n")
    assert main(["g2p", "--corpus", str(corpus), "--out", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["text"] for row in rows] == ["Hello there.", "", "Good bye."]
    assert len(rows[0]["ids"]) == len(rows[0]["phonemes"]) > 5
    assert [row["skipped"] for row in rows] == [[], [], []]


def test_g2p_never_writes_over_its_corpus(tmp_path, capsys):
    corpus, link = tmp_path / "corpus.txt", tmp_path / "link.txt"
    corpus.write_text("Hello there.\n")
    link.symlink_to(corpus)
    for out in (corpus, link):
        assert main(["g2p", "--corpus", str(corpus), "--out", str(out)]) == 1
        assert "is the corpus; give another file" in capsys.readouterr().err
    assert corpus.read_text() == "Hello there.\n"


def test_a_corpus_that_is_not_utf8_is_named(tmp_path, capsys):
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes(b"Hello.\n\xff\n")
    assert main(["g2p", "--corpus", str(corpus), "--out", str(tmp_path / "a.jsonl")]) == 1
    assert "corpus.txt is not UTF-8 text" in capsys.readouterr().err


def test_g2p_reports_what_is_left_out(tmp_path, capsys):
    assert main(["g2p", "Hello 你好."]) == 0
    out, err = capsys.readouterr()
    assert out.strip() != ""
    assert "warning: '你' '好' cannot be spoken" in err
    corpus, dump = tmp_path / "corpus.txt", tmp_path / "dump.jsonl"
    corpus.write_text("Ж and Ж\nplain words\n你\n", encoding="utf-8")
    assert main(["g2p", "--corpus", str(corpus), "--out", str(dump)]) == 0
    rows = [json.loads(line) for line in dump.read_text(encoding="utf-8").splitlines()]
    assert [row["skipped"] for row in rows] == [["Ж"], [], ["你"]]
    assert "warning: 'Ж' '你' cannot be spoken" in capsys.readouterr().err


def test_normalization(tmp_path, capsys):
    def ipa(*arguments):
        assert main(["g2p", *arguments]) == 0
        return capsys.readouterr().out.strip()

    natural = ipa("It is $5 million.")
    assert natural == ipa("It is five million dollars.", "--normalization", "none")
    upstream = ipa("It is $5 million.", "--normalization", "upstream")
    assert upstream == ipa("It is five dollars million.", "--normalization", "none")
    a, b = tmp_path / "a.wav", tmp_path / "b.wav"
    assert main(["say", "Room 5.", "--normalization", "upstream", "-o", str(a)]) == 0
    assert main(["say", "Room five.", "--normalization", "none", "-o", str(b)]) == 0
    assert a.read_bytes() == b.read_bytes()
    with pytest.raises(SystemExit) as wrong:
        main(["g2p", "five", "--normalization", "zh"])
    assert wrong.value.code == 2
    assert "natural" in capsys.readouterr().err


def test_voice_info(capsys):
    assert main(["voice", "info"]) == 0
    names = capsys.readouterr().out.split()
    assert names == ["female", "male"]
    assert main(["voice", "info", names[0]]) == 0
    assert "luxtts.prompt_mel" in capsys.readouterr().out


def test_info(capsys):
    assert main(["info"]) == 0
    shown = capsys.readouterr().out
    for word in ("version", "onnx", spectrum_kernels(), "cache", "female, male"):
        assert word in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["say", "   "], "nothing to say"),
        (["say", "hi", "--voice", "nobody"], "no voice file"),
        (["say", "hi", "--speed", "0"], "speed is 0.0"),
        (["say", "hi", "-o", "/no/such/folder/a.wav"], "cannot write"),
        (
            ["say", "hi", "--backend", "luxtts", "--models-dir", "/nowhere"],
            "no LuxTTS model folder",
        ),
        (["say", "hi", "--runtime", "onnx", "--compute-units", "all"], "is for Core ML"),
        (["say", "hi", "--compute-units", "flow=gpu"], "'gpu'; expected one of all, cpu_only"),
        (["say", "hi", "--compute-units", "hift=all"], "expected one of text_encoder, flow"),
        (["say", "--text-file", "/nowhere.txt"], "nowhere.txt"),
        (["say", "hi", "--prompt-audio", "/nowhere.wav", "--prompt-text", "x"], "no audio file"),
        (["voice", "info", "nobody"], "no voice file"),
    ],
)
def test_failures_are_one_line_and_exit_1(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert len(shown.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_an_output_that_cannot_be_written_is_told_before_the_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(twinvox, "load", lambda *_, **__: pytest.fail("loaded"))
    for output in (tmp_path, tmp_path / "no" / "a.wav"):
        assert main(["say", SENTENCE, "-o", str(output)]) == 1
        assert f"cannot write {output}" in capsys.readouterr().err
    monkeypatch.setattr("os.access", lambda *_: False)
    assert main(["say", SENTENCE, "-o", str(tmp_path / "a.wav")]) == 1
    assert "Permission denied" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["say"],
        ["say", "hi", "--loud"],
        ["say", "hi", "--backend", "siri"],
        ["say", "hi", "--prompt-text", "x"],
        ["say", "hi", "--voice", "female", "--prompt-audio", "a.wav", "--prompt-text", "x"],
        ["say", "hi", "-o", "-", "--json"],
        ["say", "hi", "--models-dir", "somewhere"],
        ["say", "hi", "--variant", "ane"],
        ["say", "hi", "--trim"],
        ["g2p", "--corpus", "a.txt"],
        ["g2p", "--corpus", "a.txt", "--out", "a.jsonl", "--text-file", "b.txt"],
    ],
)
def test_wrong_use_exits_2(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_warnings_go_to_stderr(tmp_path, capsys):
    path = tmp_path / "padded.wav"
    soundfile.write(path, np.concatenate([np.zeros(24_000), buzz(2.0)]), 24_000)
    arguments = ["--prompt-audio", str(path), "--prompt-text", "This is what I say."]
    assert main(["say", SENTENCE, *arguments, "-o", str(tmp_path / "a.wav")]) == 0
    assert "twinvox: warning: the prompt has 0.99 s of silence" in capsys.readouterr().err


def test_text_that_is_not_utf8(capsys):
    result = run("say", "-", stdin=b"\xff\xfe\x00")
    assert result.returncode == 1
    assert b"not UTF-8" in result.stderr
    assert main(["g2p", "caf\udce9"]) == 1
    assert "not UTF-8" in capsys.readouterr().err


def run_with(streams, *arguments):
    """As ``run``, with the shell's redirections and the interpreter's own buffers."""
    program = shlex.join([sys.executable, "-m", "twinvox", *arguments])
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    return subprocess.run(
        ["sh", "-c", f"{program} {streams}"], capture_output=True, env=environment
    )


@pytest.mark.parametrize(
    "arguments", [["g2p", "Hello"], ["g2p", "Hello " * 4_000], ["say", "hi", "-o", "-"]]
)
def test_a_full_or_broken_stdout_is_one_line_and_exit_1(arguments):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    result = run_with(">/dev/full", *arguments)
    assert result.returncode == 1
    assert result.stderr.startswith(b"twinvox: ")
    assert result.stderr.endswith(b"No space left on device\n")
    assert len(result.stderr.splitlines()) == 1


def test_closed_streams(tmp_path):
    out = tmp_path / "a.wav"
    assert run_with("2>&-", "say", SENTENCE, "-o", str(out)).returncode == 0
    assert out.exists()
    warned = run_with("2>&-", "g2p", "Hi 你.")
    assert (warned.returncode, warned.stdout.decode()) == (0, "hˈaɪ.\n")
    silent = run_with("<&-", "say", "-", "-o", str(out))
    assert (silent.returncode, silent.stderr[:8]) == (1, b"twinvox:")
    assert run_with(">&-", "g2p", "Hi.").returncode == 0


def test_an_encoding_that_lacks_the_phonemes_is_named(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    result = run("g2p", "Hello")
    assert result.returncode == 1
    assert result.stderr.startswith(b"twinvox: cannot print '\\u0259' in ascii; set PYTHONIO")
