"""The parity harnesses on the toys: a recording of the NumPy twin, with bad input."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.backends.parity_recording import T_PRE, change
from twinvox.cli import main


def test_unusable_references(parity, shipping, recorded):
    reference_wav = shipping.with_name("run.wav")
    for samples, rate, message in [
        (recorded[1], 16_000, "in 1 channels at 16000 Hz"),
        (np.stack([recorded[1]] * 2, axis=1), 24_000, "in 2 channels at 24000 Hz"),
        (recorded[1][:0], 24_000, "has 0 samples"),
        (np.full(9, np.nan, np.float32), 24_000, "NaN"),
    ]:
        soundfile.write(reference_wav, samples, rate, subtype="FLOAT")
        code, _, err = parity("synthesizer", shipping, "--reference", reference_wav)
        assert code == 1
        assert message in err
    reference_wav.write_bytes(b"no audio")
    assert "as audio" in parity("synthesizer", shipping, "--reference", reference_wav)[2]
    reference_wav.unlink()
    assert "no reference WAV" in parity("synthesizer", shipping, "--reference", reference_wav)[2]


FRONTEND, SYNTHESIZER = "frontend", "synthesizer"


@pytest.mark.parametrize(
    ("harness", "tensors", "message"),
    [
        (FRONTEND, {"t_pre": None, "prompt_mel": None}, "lacks t_pre, prompt_mel"),
        (SYNTHESIZER, {"decoded_tokens": None}, "lacks decoded_tokens"),
        (FRONTEND, {"t_pre": np.zeros(2, np.int32)}, "expected one whole number"),
        (FRONTEND, {"t_pre": np.array([1.0])}, "expected one whole number"),
        (FRONTEND, {"t_pre": np.array([T_PRE + 1])}, f"has {T_PRE} rows, but t_pre is"),
        (FRONTEND, {"lm_input_embeds": np.zeros((1, 3, 895), np.float32)}, "[1, T, 896]"),
        (FRONTEND, {"lm_input_embeds": np.zeros((1, 257, 896), np.float32)}, "1 to 256"),
        (FRONTEND, {"lm_input_embeds": np.zeros((2, T_PRE, 896), np.float32)}, "expected 2 axes"),
        (FRONTEND, {"lm_input_embeds": np.zeros((1, 3, 896), np.int32)}, "expected floats"),
        (FRONTEND, {"lm_input_embeds": np.full((T_PRE, 896), np.nan)}, "NaN"),
        (FRONTEND, {"llm_prompt_speech_ids": np.zeros((1, 4))}, "whole numbers [n]"),
        (FRONTEND, {"llm_prompt_speech_ids": np.array([[2**40]])}, "ids of 32 bits"),
        (FRONTEND, {"llm_prompt_speech_ids": np.array([[6561]])}, "expected 0 to 6560"),
        (SYNTHESIZER, {"prompt_mel": np.zeros((1, 3, 80), np.float32)}, "3 mel frames for 20"),
        (SYNTHESIZER, {"decoded_tokens": np.zeros(231, np.int32)}, "231 tokens; expected 1 to 230"),
        (SYNTHESIZER, {"decoded_tokens": np.zeros(0, np.int32)}, "0 tokens; expected 1 to 230"),
        (SYNTHESIZER, {"decoded_tokens": np.array([5, 6562])}, "run from 5 to 6562"),
    ],
)
def test_damaged_fixtures(parity, shipping, harness, tensors, message):
    change(shipping, **tensors)
    code, out, err = parity(harness, shipping)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("harness", ["frontend", "synthesizer"])
def test_truncated_and_missing_fixtures(parity, shipping, harness):
    whole = shipping.read_bytes()
    for size in (0, 4, 300, len(whole) - 1):
        shipping.write_bytes(whole[:size])
        code, _, err = parity(harness, shipping)
        assert code == 1
        assert "not a readable safetensors file" in err
    shipping.unlink()
    assert f"no parity fixture at {shipping}" in parity(harness, shipping)[2]


def test_damaged_and_missing_sidecars(parity, shipping):
    sidecar = shipping.with_suffix(".json")
    for content in ("[]", "{}", '{"prompt_text": "a"}', '{"prompt_text": 1, "tts_text": "a"}'):
        sidecar.write_text(content)
        code, _, err = parity("frontend", shipping)
        assert code == 1
        assert "no texts under" in err
    sidecar.write_text('{"prompt_text": "a", "tts_text": "b"}')
    assert "holds <|endofprompt|>" in parity("frontend", shipping)[2]
    sidecar.unlink()
    code, _, err = parity("frontend", shipping)
    assert code == 1
    assert "has no shipping.json beside it" in err


def test_missing_folders(parity, shipping, cases, tmp_path):
    nowhere = ["--models-dir", tmp_path / "nowhere"]
    for harness, fixture in [
        ("tokenizer", cases),
        ("frontend", shipping),
        ("synthesizer", shipping),
    ]:
        code, _, err = parity(harness, fixture, *nowhere, models=False)
        assert code == 1
        assert "nowhere" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "HARNESS"),
        (["tokenizer"], "--fixture"),
        (["tokenizer", "--fixture", "x"], "give --models-dir or --tokenizer-dir"),
        (["frontend", "--fixture", "x", "--tokenizer-dir", "y"], "or --embeddings-file"),
        (["frontend", "--fixture", "x", "--embeddings-file", "y"], "or --tokenizer-dir"),
        (["synthesizer", "--fixture", "x", "--tokenizer-dir", "y"], "give --models-dir"),
        (["synthesizer", "--fixture", "x", "--runtime", "y"], "invalid choice"),
    ],
)
def test_wrong_use(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("y").mkdir()
    with pytest.raises(SystemExit) as stopped:
        main(["parity", *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
