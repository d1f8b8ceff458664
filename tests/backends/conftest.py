import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from safetensors.numpy import save_file

from tests import toy_cosyvoice3, toy_models
from tests.backends.parity_recording import TTS_TEXT, recording, toy_ids
from twinvox.backends.cosyvoice3.folder import open_folder
from twinvox.backends.cosyvoice3.synthesizer import CosyVoice3
from twinvox.backends.luxtts.synthesizer import LuxTTS
from twinvox.cli import main
from twinvox.runtime import open_session
from twinvox.voice import Voice

CV3_PROMPT_TEXT = f"You are a helpful assistant.{toy_cosyvoice3.MARKER}好"
CV3_STOP_AFTER = 8  # steps, and up to 9 more; see toy_cosyvoice3


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Contract toys with the buckets of the published models."""
    return toy_models.write_folder(tmp_path_factory.mktemp("toys") / "luxtts")


@pytest.fixture(scope="session")
def toy_tts(toy_folder: Path) -> LuxTTS:
    return LuxTTS.load(toy_folder, threads=1)


@pytest.fixture(scope="module")
def embedded_reference():
    """What each stage of the embedded voice was given and gave, by name; a test may write to it."""
    with np.load(Path(__file__).parent / "data" / "embedded_reference.npz") as arrays:
        return {
            name: array.astype(np.float32) if array.dtype == np.float16 else array
            for name, array in arrays.items()
        }


def buzz(seconds: float, sample_rate: int = 24_000, level: float = 0.1) -> np.ndarray:
    """A steady voiced-like sound of the given RMS."""
    time = np.arange(round(seconds * sample_rate)) / sample_rate
    wave = sum(np.sin(2 * np.pi * 120 * k * time + k) / k for k in range(1, 30))
    return (wave * (level / np.sqrt(np.mean(wave**2)))).astype(np.float32)


@pytest.fixture(scope="session")
def toy_voice(toy_tts: LuxTTS) -> Voice:
    return toy_tts.voice((buzz(2.0), 24_000), "This is what I say.")


def open_plain(path):
    return open_session(path, threads=1)


def cv3_made_of(folder, open_model=open_plain, **models):
    """A CosyVoice3 with some models of the folder replaced."""
    return CosyVoice3(dataclasses.replace(open_folder(folder), **models), open_model)


@pytest.fixture(scope="session")
def cv3_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Contract toys of CosyVoice3, each model in a folder of its own."""
    root = tmp_path_factory.mktemp("cosyvoice3") / "toy"
    return toy_cosyvoice3.write_folder(root, stop_after=CV3_STOP_AFTER, nested=True)


@pytest.fixture(scope="session")
def cv3_tts(cv3_folder: Path) -> CosyVoice3:
    return CosyVoice3.load(cv3_folder, threads=1)


@pytest.fixture(scope="session")
def cv3_endless(cv3_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> CosyVoice3:
    """One that never draws a stop token."""
    path = tmp_path_factory.mktemp("decoders") / "endless.mlpackage"
    toy_cosyvoice3.write_decode(path, stop_after=toy_cosyvoice3.NEVER)
    return cv3_made_of(cv3_folder, llm_decode=path)


@pytest.fixture
def cv3_voice_of(tmp_path: Path):
    """Makes the voice of a prompt of so many speech tokens."""

    def make(n_tokens: int, prompt_text: str = CV3_PROMPT_TEXT) -> Voice:
        path = tmp_path / f"voice{n_tokens}.safetensors"
        toy_cosyvoice3.write_voice(path, n_tokens, prompt_text)
        return Voice.load(path)

    return make


@pytest.fixture
def cv3_voice(cv3_voice_of) -> Voice:
    return cv3_voice_of(20)


@pytest.fixture(scope="session")
def recorded():
    return recording()


@pytest.fixture
def shipping(recorded, tmp_path):
    """The fixture file with its sidecar, and run.wav beside it."""
    tensors, samples = recorded
    path = tmp_path / "shipping.safetensors"
    save_file(tensors, path)
    texts = {"prompt_text": CV3_PROMPT_TEXT, "tts_text": TTS_TEXT}
    path.with_suffix(".json").write_text(json.dumps(texts), encoding="utf-8")
    soundfile.write(tmp_path / "run.wav", samples, 24_000, subtype="PCM_16")
    return path


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.json"
    texts = ["", "abc", "你好", f"a{toy_cosyvoice3.MARKER}b", CV3_PROMPT_TEXT]
    rows = [{"text": text, "ids": toy_ids(text)} for text in texts]
    specials = {"<|im_start|>": 257, toy_cosyvoice3.MARKER: toy_cosyvoice3.MARKER_ID}
    path.write_text(json.dumps({"special_tokens": specials, "cases": rows}), encoding="utf-8")
    return path


@pytest.fixture
def parity(cv3_folder, capsys):
    """Runs a harness on the toys: exit code, stdout and stderr."""

    def run(harness, fixture, *options, models=True):
        where = ["--models-dir", str(cv3_folder)] if models else []
        threads = ["--threads", "1"] if harness == "synthesizer" else []
        code = main(
            ["parity", harness, "--fixture", str(fixture), *where, *threads, *map(str, options)]
        )
        return code, *capsys.readouterr()

    return run
