from pathlib import Path

import numpy as np
import pytest

from tests import toy_models
from twinvox.backends.luxtts.synthesizer import LuxTTS
from twinvox.voice import Voice


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
