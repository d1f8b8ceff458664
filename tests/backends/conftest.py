import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests import toy_cosyvoice3, toy_models
from twinvox.backends.cosyvoice3.folder import open_folder
from twinvox.backends.cosyvoice3.synthesizer import CosyVoice3
from twinvox.backends.luxtts.synthesizer import LuxTTS
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
