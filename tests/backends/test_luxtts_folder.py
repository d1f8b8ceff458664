"""Model folders: the published layout, buckets, variants, and what may be wrong with them."""

import shutil

import numpy as np
import pytest

import twinvox
from tests import toy_models
from tests.mil.text_printer import VERSIONS, compile_folder
from twinvox.backends.luxtts.folder import choose_variant, open_folder
from twinvox.backends.luxtts.synthesizer import LuxTTS
from twinvox.errors import ContractError, ModelFormatError, ModelNotFoundError


@pytest.fixture
def folder(toy_folder, tmp_path):
    return shutil.copytree(toy_folder, tmp_path / "luxtts")


def test_the_published_layout(toy_folder):
    found = open_folder(toy_folder, "gpu")
    assert {n: path.name for n, path in found.vocoder.items()} == {
        282: "Vocoder282.mlpackage",
        555: "Vocoder555.mlpackage",
    }
    assert {n: path.name for n, path in found.fm_decoder.items()} == {1024: "FmDecoder.mlpackage"}


def test_compiled_models_come_first_and_a_bucket_of_its_own_before_any(folder):
    (folder / "gpu" / "TextEncoder.mlmodelc").mkdir()
    (folder / "gpu" / "FmDecoder.mlmodelc").mkdir()
    found = open_folder(folder, "gpu")
    assert found.text_encoder.name == "TextEncoder.mlmodelc"
    assert found.fm_decoder[1024].name == "FmDecoder.mlmodelc"
    (folder / "gpu" / "FmDecoder1024.mlpackage").mkdir()
    assert open_folder(folder, "gpu").fm_decoder[1024].name == "FmDecoder1024.mlpackage"


@pytest.mark.parametrize("version", VERSIONS)
def test_compiled_models_give_the_same_samples(toy_folder, toy_tts, toy_voice, tmp_path, version):
    compiled = compile_folder(toy_folder, tmp_path / "luxtts", version=version)
    assert not [*compiled.rglob("*.mlpackage")]
    ours = twinvox.load("luxtts", models_dir=compiled, threads=1)
    text = "Two segments. They are spoken one after the other."
    want = toy_tts.synthesize(text, toy_voice, seed=3).samples
    np.testing.assert_array_equal(ours.synthesize(text, toy_voice, seed=3).samples, want)


def test_without_config_the_published_buckets_hold(folder):
    (folder / "config.json").unlink()
    found = open_folder(folder, "gpu")
    assert (list(found.fm_decoder), list(found.vocoder)) == ([1024], [282, 555])


def test_buckets_do_not_change_the_samples(toy_tts, toy_voice, tmp_path):
    small = toy_models.write_folder(
        tmp_path / "small", frame_buckets=(256, 512, 1024), vocoder_buckets=(64, 200, 555)
    )
    text = "Short. And then a sentence of a more usual length."
    got = LuxTTS.load(small, threads=1).synthesize(text, toy_voice).samples
    np.testing.assert_allclose(got, toy_tts.synthesize(text, toy_voice).samples, atol=1e-5)


def test_all_missing_files_are_named_together(folder):
    shutil.rmtree(folder / "gpu" / "FmDecoder.mlpackage")
    shutil.rmtree(folder / "vocoder" / "Vocoder555.mlpackage")
    (folder / "tokens.txt").unlink()
    with pytest.raises(ModelNotFoundError) as caught:
        LuxTTS.load(folder)
    for name in ("tokens.txt", "gpu/FmDecoder1024.mlmodelc", "vocoder/Vocoder555.mlmodelc"):
        assert name in str(caught.value)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ModelNotFoundError, match="nowhere"):
        LuxTTS.load(tmp_path / "nowhere")


def test_a_damaged_weight_file_is_named(folder):
    weights = folder / "gpu/FmDecoder.mlpackage/Data/com.apple.CoreML/weights/weight.bin"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelFormatError, match=r"weight\.bin"):
        LuxTTS.load(folder)


def test_a_model_of_other_shapes_is_a_contract_error(folder):
    path = folder / "gpu" / "FmDecoder.mlpackage"
    shutil.rmtree(path)
    toy_models.write_fm_decoder(path, frames=512)
    with pytest.raises(ContractError, match=r"FmDecoder.*input x .*input padding_mask .*output v "):
        LuxTTS.load(folder)


@pytest.mark.parametrize(
    "config", ["", "[]", '{"frame_buckets": []}', '{"vocoder_buckets": [1]}',
               '{"vocoder_buckets": "282"}', '{"frame_buckets": [256.5]}']
)  # fmt: skip
def test_a_bad_config_is_a_format_error(folder, config):
    (folder / "config.json").write_text(config)
    with pytest.raises(ModelFormatError, match=r"config\.json"):
        LuxTTS.load(folder)


def test_variants(folder, monkeypatch):
    assert choose_variant(None) == "gpu"
    monkeypatch.setenv("TWINVOX_LUXTTS_VARIANT", "ane")
    assert choose_variant(None) == "ane"
    assert choose_variant("gpu") == "gpu"
    with pytest.raises(ModelNotFoundError, match=r"ane/TextEncoder\.mlmodelc"):
        LuxTTS.load(folder)
    (folder / "gpu").rename(folder / "ane")
    LuxTTS.load(folder, threads=1)
    with pytest.raises(ValueError, match="tpu"):
        choose_variant("tpu")


def test_the_variant_of_the_environment_is_not_the_embedded_voice_s(monkeypatch):
    monkeypatch.setenv("TWINVOX_LUXTTS_VARIANT", "ane")
    assert twinvox.load(threads=1).sample_rate == 48_000
    with pytest.raises(TypeError, match="variant 'ane' is for LuxTTS"):
        twinvox.load(variant="ane")


def test_models_dir_is_never_left_unread(folder):
    for model in ("embedded", folder):
        with pytest.raises(TypeError, match="goes with luxtts or cosyvoice3, not with"):
            twinvox.load(model, models_dir=folder)


def test_load_finds_folders(folder, monkeypatch):
    monkeypatch.delenv("TWINVOX_MODELS_DIR", raising=False)
    assert twinvox.load(folder, threads=1).sample_rate == 48_000
    assert twinvox.load("luxtts", models_dir=folder, threads=1).sample_rate == 48_000
    with pytest.raises(ModelNotFoundError, match="TWINVOX_MODELS_DIR"):
        twinvox.load("luxtts")
    monkeypatch.setenv("TWINVOX_MODELS_DIR", str(folder.parent))
    assert twinvox.load("luxtts", threads=1).sample_rate == 48_000
    with pytest.raises(ModelNotFoundError, match="siri"):
        twinvox.load("siri")
