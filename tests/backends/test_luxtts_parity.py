"""The reference's own figures: solver times and trajectory, accounting, token ids."""

import json

import numpy as np
import pytest

from twinvox._native.solver import anchor_euler_step
from twinvox.backends.luxtts.contract import timesteps
from twinvox.backends.luxtts.duration import plan_duration
from twinvox.backends.luxtts.prompt import prompt_mel
from twinvox.text.ipa_tokenizer import IpaTokenizer


@pytest.fixture(scope="module")
def recorded(fixtures_dir):
    return json.loads((fixtures_dir / "luxtts" / "luxtts_fixtures.json").read_text())


def test_timesteps():
    np.testing.assert_allclose(timesteps(), [0, 1 / 7, 1 / 3, 0.6, 1], atol=1e-12)


def test_recorded_timesteps_and_trajectory(recorded):
    solver = recorded["solver"]
    times = timesteps(solver["num_steps"], solver["t_shift"])
    np.testing.assert_allclose(times, solver["timesteps"], atol=1e-6)
    trajectory = solver["mini_trajectory"]
    x = np.array([trajectory["x0"]], np.float32)
    for step, v in enumerate(trajectory["v_steps"]):
        anchor_euler_step(
            x, np.array([v], np.float32), times[step], times[step + 1], step == len(times) - 2
        )
    np.testing.assert_allclose(x[0], trajectory["x_final"], atol=1e-6)


def test_accounting_of_the_recorded_run(recorded):
    prompt, run = recorded["prompt"], recorded["e2e"]
    text = recorded["texts"][run["text_index"]]
    duration = plan_duration(
        prompt["mel_frames"], len(prompt["token_ids"]), len(text["token_ids"]), run["speed"]
    )
    assert (prompt["mel_frames"], len(text["token_ids"])) == (406, 85)
    assert (duration.total, duration.generated) == (run["features_len"], run["gen_frames"])
    assert (duration.generated - 1) * 512 == run["wav_samples"] == 220_672


def test_token_ids_of_the_recorded_phonemes(recorded, fixtures_dir):
    tokenizer = IpaTokenizer.load(fixtures_dir / "luxtts" / "tokens.txt")
    for item in (recorded["prompt"], *recorded["texts"]):
        ids, skipped = tokenizer.encode(item["phoneme_string"])
        assert ids.tolist() == item["token_ids"]
        assert not skipped


def test_prompt_mel_of_the_recorded_prompt(recorded, fixtures_dir):
    folder = fixtures_dir / "luxtts"
    samples = np.fromfile(folder / "prompt_24k_f32le.bin", "<f4")
    want = np.fromfile(folder / "prompt_mel_f32le.bin", "<f4").reshape(-1, 100)
    mel, rms = prompt_mel(samples)
    assert mel.shape == want.shape == (406, 100)
    assert np.abs(mel * np.float32(0.1) - want).max() <= 1.6e-4
    assert rms == pytest.approx(recorded["prompt"]["rms_pre_norm"], abs=1e-6)
