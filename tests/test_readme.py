"""Every example of the README runs."""

import re
import shlex
from pathlib import Path

import pytest

import twinvox
from twinvox.cli import main

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder_with_a_recording(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    twinvox.load(threads=1).synthesize("What I say in it.").save("me.wav")
    return tmp_path


def test_python_examples(folder_with_a_recording):
    played = []
    (program,) = blocks("python")
    exec(program, {"play": lambda samples, rate: played.append((len(samples), rate))})
    assert len(played) == 2
    assert {"hello.wav", "me.safetensors", "morning.wav"} <= {
        path.name for path in folder_with_a_recording.iterdir()
    }


def test_shell_examples(folder_with_a_recording, capfdbinary):
    commands = [line for block in blocks("sh") for line in block.splitlines() if "twinvox " in line]
    run = [line for line in commands if line.startswith("twinvox ")]
    assert len(run) == 5
    for line in run:
        assert main(shlex.split(line, comments=True)[1:]) == 0, line


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 130
