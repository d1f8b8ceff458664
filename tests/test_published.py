"""The published models as a user has them: TWINVOX_RUN_E2E=1 make test ARGS=tests/test_published.py

They are looked for, and fetched, as `twinvox.load` does: 6 GB for both. Each test is one
`twinvox bench` of one phrase in a process of its own, on every runtime that is here; where
faster-whisper is installed, the speech is heard as well.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import soundfile

from twinvox.runtime import choose_runtime

ENVIRONMENT = dict(os.environ)  # before the fixtures keep the tests out of the user's caches
RUNTIMES = sorted({choose_runtime()[0], "onnx"})

pytestmark = pytest.mark.skipif(
    os.environ.get("TWINVOX_RUN_E2E") != "1", reason="set TWINVOX_RUN_E2E=1 to use the hub"
)


@pytest.fixture(params=RUNTIMES)
def speak(request, tmp_path):
    """Speaks one text: the benchmark's row of it, and its samples."""

    def run(text, *options):
        corpus, output = tmp_path / "corpus.txt", tmp_path / "bench.json"
        corpus.write_text(text + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "twinvox", "bench", "--runtime", request.param]
        command += ["--corpus-path", corpus, "--audio-dir", tmp_path, "--output-json", output]
        subprocess.run([*command, *options], env=ENVIRONMENT, check=True)
        (row,) = json.loads(output.read_text(encoding="utf-8"))["phrases"]
        samples, _ = soundfile.read(row["wav_path"])
        return row, samples

    return run


@pytest.mark.parametrize("variant", ["gpu", "ane"])
def test_luxtts_says_the_reference_sentence(speak, fixtures_dir, tmp_path, variant):
    """Of FluidAudio's reference run: 220,672 samples of an RMS of 0.1414."""
    prompt = fixtures_dir / "luxtts" / "prompt_24k_f32le.bin"
    soundfile.write(tmp_path / "prompt.wav", np.fromfile(prompt, "<f4"), 24_000, subtype="FLOAT")
    row, samples = speak(
        "The quick brown fox jumps over the lazy dog, and honestly, it felt great.",
        *("--backend", "luxtts", "--variant", variant, "--prompt-audio", tmp_path / "prompt.wav"),
        *("--prompt-text", "quick brown fox jumps over the lazy dog and honestly it felt great."),
    )
    assert len(samples) == 220_672
    assert abs(20 * np.log10(np.sqrt(np.mean(samples**2)) / 0.1414)) < 1
    assert row["wer"] in (0, None)


def test_cosyvoice3_finishes_and_is_understood(speak):
    row, _ = speak("今天的天气真好，我们一起去公园里散步吧。", "--backend", "cosyvoice3")
    assert row["finished_on_eos"]
    assert row["cer"] is None or row["cer"] <= 0.03
