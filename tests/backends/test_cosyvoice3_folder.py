"""Folders, prompt bundles, prompt mel and the command line of CosyVoice3."""

import json

import numpy as np
import pytest
import soundfile
from safetensors.numpy import load_file, save_file

import twinvox
from tests import toy_cosyvoice3 as toy
from tests.backends.conftest import buzz
from tests.mil.text_printer import compile_folder
from tests.reference import mel as reference
from twinvox import Voice
from twinvox.backends.cosyvoice3.folder import open_folder
from twinvox.backends.cosyvoice3.options import NORMALIZATIONS
from twinvox.backends.cosyvoice3.prompt import prompt_mel
from twinvox.backends.cosyvoice3.synthesizer import CosyVoice3
from twinvox.backends.luxtts.synthesizer import LuxTTS
from twinvox.cli import main
from twinvox.errors import (
    ContractError,
    ModelFormatError,
    ModelNotFoundError,
    PromptError,
)
from twinvox.text.zh_normalizer import NORMALIZERS

TEXT = "今天是3月5日。"
STEMS = {
    "llm_prefill": ("LLM-Prefill-T256-M768-fp16", "llm-fp16"),
    "llm_decode": ("LLM-Decode-M768-fp16", "llm-fp16-decode"),
    "flow": ("Flow-N250-fp32", "flow-fp16-n250"),
    "hift": ("HiFT-T500-fp16", "hift-fp16-t500"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return toy.write_folder(
        tmp_path_factory.mktemp("cosyvoice3") / "toy", stop_after=6, nested=True
    )


@pytest.fixture
def skeleton(tmp_path):
    """The names of a flat folder, without content."""
    for stem, _ in STEMS.values():
        (tmp_path / f"{stem}.mlpackage").mkdir()
    for name in (
        "embeddings/speech_embedding-fp16.safetensors",
        "embeddings/embeddings-runtime-fp32.safetensors",
        "tokenizer/vocab.json",
        "tokenizer/merges.txt",
        "tokenizer/special_tokens.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("suffix", [".mlpackage", ".mlmodelc"])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("precision", ["fp16", "fp32"])
def test_both_layouts_extensions_and_flows_are_found(skeleton, suffix, nested, precision):
    for name, (stem, own) in STEMS.items():
        (skeleton / f"{stem}.mlpackage").rmdir()
        where = skeleton / own if nested else skeleton
        stem = f"Flow-N250-{precision}" if name == "flow" else stem
        (where / f"{stem}{suffix}").mkdir(parents=True)
    found = open_folder(skeleton)
    for name, (_, own) in STEMS.items():
        path = getattr(found, name)
        assert path.suffix == suffix
        assert path.parent == (skeleton / own if nested else skeleton)
    assert found.flow.stem == f"Flow-N250-{precision}"


def test_compiled_models_come_first(skeleton):
    (skeleton / "HiFT-T500-fp16.mlmodelc").mkdir()
    found = open_folder(skeleton)
    assert (found.hift.suffix, found.llm_decode.suffix) == (".mlmodelc", ".mlpackage")


def test_compiled_models_give_the_same_samples(cv3_folder, cv3_tts, cv3_voice, tmp_path):
    compiled = compile_folder(cv3_folder, tmp_path / "cosyvoice3", version="1.3")
    ours = twinvox.load("cosyvoice3", models_dir=compiled, threads=1)
    want = cv3_tts.synthesize(TEXT, cv3_voice, seed=3).samples
    np.testing.assert_array_equal(ours.synthesize(TEXT, cv3_voice, seed=3).samples, want)


def test_the_flat_layout_comes_first(skeleton):
    (skeleton / "llm-fp16" / "LLM-Prefill-T256-M768-fp16.mlpackage").mkdir(parents=True)
    assert open_folder(skeleton).llm_prefill.parent == skeleton


def test_all_missing_files_are_named_together(skeleton):
    for name in ("LLM-Decode-M768-fp16", "HiFT-T500-fp16"):
        (skeleton / f"{name}.mlpackage").rmdir()
    for name in ("tokenizer/merges.txt", "embeddings/speech_embedding-fp16.safetensors"):
        (skeleton / name).unlink()
    with pytest.raises(ModelNotFoundError) as raised:
        open_folder(skeleton)
    message = str(raised.value)
    for name in ("LLM-Decode-M768-fp16", "llm-fp16-decode/", "HiFT-T500-fp16", "merges.txt"):
        assert name in message
    assert "embeddings/speech_embedding-fp16.safetensors" in message
    for name in ("LLM-Prefill", "Flow-N250", "vocab.json", "runtime"):
        assert name not in message
    with pytest.raises(ModelNotFoundError, match="no CosyVoice3 model folder at"):
        open_folder(skeleton / "nowhere")


def test_files_given_replace_the_folders(skeleton, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    toy.write_tokenizer(other / "tokenizer")
    given = {
        "tokenizer_dir": other / "tokenizer",
        "special_tokens_file": other / "tokenizer" / "special_tokens.json",
        "embeddings_file": other / "tokenizer" / "toy.tiktoken",
    }
    for path in (skeleton / "tokenizer").iterdir():
        path.unlink()
    (skeleton / "embeddings" / "embeddings-runtime-fp32.safetensors").unlink()
    found = open_folder(skeleton, **given)
    assert found.tokenizer_dir == given["tokenizer_dir"]
    assert found.special_tokens == given["special_tokens_file"]
    assert found.embeddings == given["embeddings_file"]
    with pytest.raises(ModelNotFoundError, match="elsewhere"):
        open_folder(skeleton, **given | {"embeddings_file": other / "elsewhere"})


@pytest.mark.parametrize("name", ["cosyvoice3", "cv3"])
def test_load_by_name(folder, name, monkeypatch):
    assert isinstance(twinvox.load(name, models_dir=folder, threads=1), CosyVoice3)
    monkeypatch.delenv("TWINVOX_MODELS_DIR", raising=False)
    with pytest.raises(ModelNotFoundError, match=r"CosyVoice3 models is known.*holds cosyvoice3/"):
        twinvox.load(name)
    (folder.parent / "cosyvoice3").unlink(missing_ok=True)
    (folder.parent / "cosyvoice3").symlink_to(folder)
    monkeypatch.setenv("TWINVOX_MODELS_DIR", str(folder.parent))
    assert isinstance(twinvox.load(name, threads=1), CosyVoice3)


def test_load_tells_the_folders_apart(folder, toy_folder):
    assert isinstance(twinvox.load(folder, threads=1), CosyVoice3)
    assert isinstance(twinvox.load(toy_folder, threads=1), LuxTTS)
    with pytest.raises(TypeError, match="variant 'gpu' is for LuxTTS"):
        twinvox.load(folder, variant="gpu")
    with pytest.raises(TypeError, match="tokenizer_dir can only be given for CosyVoice3"):
        twinvox.load(toy_folder, tokenizer_dir=folder)


def test_a_model_of_another_shape_is_a_contract_error(folder, monkeypatch, tmp_path):
    import dataclasses

    from twinvox.runtime import open_session

    broken = tmp_path / "HiFT.mlpackage"
    with monkeypatch.context() as patch:
        patch.setattr(toy, "FRAMES", 499)
        toy.write_hift(broken)
    found = dataclasses.replace(open_folder(folder), hift=broken)
    with pytest.raises(ContractError, match=r"model HiFT .* input mel is .*499.*; output audio"):
        CosyVoice3(found, lambda path: open_session(path, threads=1))
    found = dataclasses.replace(open_folder(folder), flow=open_folder(folder).hift)
    with pytest.raises(ContractError, match=r"model Flow .* token_total is missing"):
        CosyVoice3(found, lambda path: open_session(path, threads=1))


@pytest.mark.parametrize("name", ["speech_embedding-fp16", "embeddings-runtime-fp32"])
def test_a_truncated_table_is_a_format_error(skeleton, folder, name):
    whole = folder / "embeddings" / f"{name}.safetensors"
    cut = skeleton / "embeddings" / f"{name}.safetensors"
    with whole.open("rb") as file:
        cut.write_bytes(file.read(100_000))
    other = next(p for p in (folder / "embeddings").iterdir() if p.name != whole.name)
    (skeleton / "embeddings" / other.name).unlink()
    (skeleton / "embeddings" / other.name).symlink_to(other)
    with pytest.raises(ModelFormatError, match="truncated"):
        CosyVoice3.load(skeleton)


@pytest.fixture
def bundle(tmp_path):
    path = tmp_path / "voices" / "me.safetensors"
    toy.write_voice(path, 30, f"你好{toy.MARKER}大家好")
    return path


def test_a_bundle_is_a_voice(bundle, tmp_path):
    voice = Voice.load(bundle)
    stored = toy.prompt_tensors(30)
    assert voice.prompt_text == f"你好{toy.MARKER}大家好"
    for name, own in [
        ("cosyvoice3.prompt_speech_ids", "llm_prompt_speech_ids"),
        ("cosyvoice3.prompt_mel", "prompt_mel"),
        ("cosyvoice3.speaker_embedding", "spk_embedding"),
    ]:
        np.testing.assert_array_equal(voice.tensor(name), stored[own][0])
    voice.save_bundle(tmp_path / "copy.safetensors")
    copied = load_file(tmp_path / "copy.safetensors")
    assert copied.keys() == stored.keys()
    for name, array in stored.items():
        np.testing.assert_array_equal(copied[name], array)
    assert (tmp_path / "copy.json").read_bytes() == bundle.with_suffix(".json").read_bytes()
    voice.save(tmp_path / "own.safetensors")
    loaded = Voice.load(tmp_path / "own.safetensors")
    assert loaded.prompt_text == voice.prompt_text
    assert loaded.tensors.keys() == voice.tensors.keys()


def test_other_tensors_of_a_bundle_are_ignored(bundle):
    save_file(toy.prompt_tensors(30) | {"flow_embedding": np.zeros(3, np.float64)}, bundle)
    assert len(Voice.load(bundle).tensors) == 3


@pytest.mark.parametrize("framework", ["pt", "np", "mlx"])
def test_a_bundle_may_name_the_framework_that_wrote_it(bundle, framework):
    save_file(toy.prompt_tensors(30), bundle, {"format": framework})
    assert len(Voice.load(bundle).tensors) == 3


def test_a_voice_of_another_backend_makes_no_bundle(tmp_path):
    with pytest.raises(PromptError, match="cosyvoice3"):
        Voice.load("female").save_bundle(tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_bundle_is_not_written_over_by_its_own_transcript(bundle, tmp_path):
    with pytest.raises(ValueError, match=r"x\.json is where the transcript goes"):
        Voice.load(bundle).save_bundle(tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()


def test_damaged_bundles(bundle):
    sidecar = bundle.with_suffix(".json")
    for content in ("{", "[]", '{"prompt_text": 3}', "{}", "[" * 100_000):
        sidecar.write_text(content)
        with pytest.raises(ModelFormatError, match=r"me\.json"):
            Voice.load(bundle)
    sidecar.unlink()
    with pytest.raises(ModelNotFoundError, match=r"no me\.json beside it"):
        Voice.load(bundle)
    whole = bundle.read_bytes()
    tensors = toy.prompt_tensors(30)
    save_file({name: tensors[name] for name in ("prompt_mel",)}, bundle)
    sidecar.write_text('{"prompt_text": "x"}')
    with pytest.raises(ModelFormatError, match="lacks llm_prompt_speech_ids, spk_embedding"):
        Voice.load(bundle)
    save_file(tensors | {"prompt_mel": np.zeros((2, 60, 80), np.float32)}, bundle)
    with pytest.raises(ModelFormatError, match=r"prompt_mel .* \[2, 60, 80\]; .* axis of 1"):
        Voice.load(bundle)
    for size in (0, 4, 300, len(whole) - 1):
        bundle.write_bytes(whole[:size])
        with pytest.raises(ModelFormatError, match=r"me\.safetensors"):
            Voice.load(bundle)


def test_voices_are_found_by_id_path_and_default(folder, bundle):
    tts = CosyVoice3.load(folder, threads=1)
    toy.write_voice(folder / "voices" / "other.safetensors", 9, f"{toy.MARKER}啊")
    by_default = tts.synthesize(TEXT).samples
    by_id = tts.synthesize(TEXT, "cosyvoice3-default-zh").samples
    np.testing.assert_array_equal(by_default, by_id)
    other = tts.synthesize(TEXT, "other").samples
    by_path = tts.synthesize(TEXT, folder / "voices" / "other.safetensors").samples
    np.testing.assert_array_equal(other, by_path)
    assert not np.array_equal(other, by_id)
    with pytest.raises(ModelNotFoundError, match=r"'female': .* cosyvoice3-default-zh, other"):
        tts.synthesize(TEXT, "female")
    with pytest.raises(PromptError, match="made for the cosyvoice3 backend"):
        tts.synthesize(TEXT, Voice.load("female"))


def test_prompt_mel(tmp_path):
    samples = buzz(2.03)
    path = tmp_path / "prompt.wav"
    soundfile.write(path, samples, 24_000, subtype="FLOAT")
    want = reference.log_mel(
        samples,
        sample_rate=24_000,
        n_fft=1920,
        hop_length=480,
        n_mels=80,
        mel_scale="slaney",
        pad=720,
        log_floor=1e-5,
        magnitude_epsilon=1e-9,
    )
    assert len(want) >= 101
    for source in (path, (samples, 24_000)):
        mel = prompt_mel(source, 50)
        assert (mel.shape, mel.dtype) == ((100, 80), np.float32)
        np.testing.assert_allclose(mel, want[:100], atol=2e-4)
    with pytest.raises(PromptError, match="101 mel frames for 51 speech tokens; expected 102"):
        prompt_mel(path, 51)
    with pytest.raises(PromptError, match="too short: 10 samples"):
        prompt_mel((samples[:10], 24_000), 1)


def say(folder, tmp_path, *options):
    out = str(tmp_path / "out.wav")
    arguments = ["say", TEXT, "--backend", "cv3", "--models-dir", str(folder), "-o", out]
    return main([*arguments, "--threads", "1", *options])


def test_the_command_line_speaks_mandarin(folder, tmp_path, capsys):
    assert say(folder, tmp_path, "--json", "--seed", "3") == 0
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    speech = CosyVoice3.load(folder, threads=1).synthesize(TEXT, seed=3)
    assert report["finished_on_eos"] is True
    assert report["samples"] == len(speech.samples)
    assert report["generated_token_count"] == speech.generated_token_count
    assert report["timings_ms"].keys() == {"prefill", "decode", "flow", "hift"}
    assert report["segments"][0]["text"] == "今天是三月五日。"
    assert "beta" in shown.err
    assert soundfile.info(tmp_path / "out.wav").samplerate == 24_000


def test_the_command_lines_options(folder, tmp_path, capsys, bundle):
    options = [
        "--prompt-assets", str(bundle), "--max-new-tokens", "3", "--no-chunking",
        "--normalization", "none", "--json",
        "--tokenizer-dir", str(folder / "tokenizer"),
        "--special-tokens-file", str(folder / "tokenizer" / "special_tokens.json"),
        "--embeddings-file", str(folder / "embeddings" / "embeddings-runtime-fp32.safetensors"),
    ]  # fmt: skip
    assert say(folder, tmp_path, *options) == 0
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert (report["generated_token_count"], report["finished_on_eos"]) == (3, False)
    assert report["segments"][0]["text"] == TEXT
    assert "the cap being 3" in shown.err
    assert say(folder, tmp_path, "--prenormalized", "--json") == 0
    assert json.loads(capsys.readouterr().out)["segments"][0]["text"] == TEXT


def test_the_command_line_refuses_a_recording(folder, tmp_path, capsys):
    prompt = ["--prompt-audio", "me.wav", "--prompt-text", "你好"]
    assert say(folder, tmp_path, *prompt) == 1
    assert "use a voice bundle" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--speed", "2"], "--speed cannot be given with --backend cv3"),
        (["--phonemes", "--trim"], "--phonemes, --trim cannot be given"),
        (["--variant", "gpu"], "--variant cannot be given"),
        (["--prompt-assets", "a", "--voice", "b"], "not several"),
        (["--normalization", "natural"], "which reads zh, zh-basic, wetext, none"),
    ],
)
def test_options_of_other_backends_are_wrong_use(folder, tmp_path, options, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        say(folder, tmp_path, *options)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    [
        ["--prenormalized"],
        ["--prompt-assets", "x"],
        ["--max-new-tokens", "4"],
        ["--normalization", "zh"],
    ],
)
def test_options_of_cosyvoice3_are_wrong_use_elsewhere(option, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["say", "hi", *option])
    assert stopped.value.code == 2
    shown = capsys.readouterr().err
    assert option[0] in shown
    assert "cannot be given with --backend embedded" in shown


def test_the_command_line_offers_every_normalization():
    assert tuple(NORMALIZERS) == NORMALIZATIONS
