"""The vocoder stage on a session that shows what it was given."""

import math

import numpy as np
import pytest

from twinvox.backends.luxtts.vocoder import vocode
from twinvox.errors import ContractError


class Recorder:
    """Answers with a ramp from -2 to 2 and keeps the mel it saw."""

    def __init__(self, samples):
        self.samples = samples

    def run(self, inputs):
        self.mel = inputs["mel"]
        return {"audio": np.linspace(-2, 2, self.samples, dtype=np.float32)[None]}


def test_mel_is_unscaled_and_padded_with_silence():
    session = Recorder(9 * 512)
    frames = np.random.default_rng(0).normal(size=(7, 100)).astype(np.float32)
    samples = vocode(session, 10, frames, 1.0)
    assert session.mel.shape == (1, 100, 10)
    np.testing.assert_allclose(session.mel[0, :, :7], frames.T * 10, rtol=1e-6)
    np.testing.assert_allclose(session.mel[0, :, 7:], math.log(1e-7), rtol=1e-6)
    assert len(samples) == 6 * 512


def test_samples_are_clipped_before_the_loudness():
    samples = vocode(Recorder(9 * 512), 10, np.zeros((10, 100), np.float32), 0.25)
    assert (samples.min(), samples.max()) == (-0.25, 0.25)
    assert np.abs(samples[2048:2560]).max() < 0.25


def test_a_wrong_number_of_samples_is_a_contract_error():
    with pytest.raises(ContractError, match="returned 512 samples; expected 4608"):
        vocode(Recorder(512), 10, np.zeros((10, 100), np.float32), 1.0)
