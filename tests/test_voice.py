import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from twinvox import Voice
from twinvox.errors import ModelFormatError, ModelNotFoundError, TwinvoxError


@pytest.fixture
def voice():
    mel = np.arange(200, dtype=np.float32).reshape(2, 100)
    return Voice("hello", {"luxtts.prompt_mel": mel}, "həlˈoʊ", {"licence": "CC0"})


def test_a_saved_voice_loads_unchanged(voice, tmp_path):
    path = tmp_path / "me.safetensors"
    voice.save(path)
    loaded = Voice.load(path)
    assert (loaded.prompt_text, loaded.prompt_phonemes) == ("hello", "həlˈoʊ")
    assert loaded.info == {"licence": "CC0"}
    assert loaded.tensors.keys() == voice.tensors.keys()
    np.testing.assert_array_equal(
        loaded.tensor("luxtts.prompt_mel"), voice.tensor("luxtts.prompt_mel")
    )


def test_arrays_are_saved_in_any_order_in_memory(tmp_path):
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    names = ("prompt_speech_ids", "prompt_mel", "speaker_embedding")
    for array in (np.asfortranarray(values), np.repeat(values, 2, axis=0)[::2], values[::-1].T):
        voice = Voice("hello", {f"cosyvoice3.{name}": array for name in names})
        voice.save(tmp_path / "me.safetensors")
        voice.save_bundle(tmp_path / "bundle.safetensors")
        for path in ("me.safetensors", "bundle.safetensors"):
            loaded = Voice.load(tmp_path / path)
            np.testing.assert_array_equal(loaded.tensor("cosyvoice3.prompt_mel"), array)
    Voice("hello", {"a": np.array(3.0)}).save(tmp_path / "me.safetensors")
    assert Voice.load(tmp_path / "me.safetensors").tensor("a").shape == ()


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3"])
def test_a_tensor_of_a_type_that_numpy_has_not_is_a_format_error(tmp_path, dtype):
    size = 2 if dtype == "BF16" else 1
    header = {"x": {"dtype": dtype, "shape": [1], "data_offsets": [0, size]}}
    encoded = json.dumps(header).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + bytes(size))
    with pytest.raises(ModelFormatError, match=r"x\.safetensors"):
        Voice.load(path)


def test_a_missing_voice_names_those_that_ship(tmp_path):
    with pytest.raises(ModelNotFoundError, match="nobody"):
        Voice.load("nobody")


@pytest.mark.parametrize("cut", [0, 4, 60])
def test_a_truncated_file_is_a_format_error(voice, tmp_path, cut):
    path = tmp_path / "me.safetensors"
    voice.save(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ModelFormatError, match=r"me\.safetensors"):
        Voice.load(path)


def test_another_format_version_is_a_format_error(tmp_path):
    path = tmp_path / "new.safetensors"
    metadata = {"format": "twinvox-voice", "version": "99", "info": json.dumps({})}
    save_file({"a": np.zeros(1)}, path, metadata)
    with pytest.raises(ModelFormatError, match="99"):
        Voice.load(path)
    save_file({"a": np.zeros(1)}, path)
    with pytest.raises(ModelFormatError, match="expected 'twinvox-voice'"):
        Voice.load(path)


@pytest.mark.parametrize(
    "damage",
    [{"info": "{"}, {"info": "null"}, {"info": "[1]"}, {"info": "{}", "prompt_text": None}],
)
def test_damaged_metadata_is_a_format_error(tmp_path, damage):
    metadata = {"format": "twinvox-voice", "version": "1", "prompt_text": "hi"} | damage
    path = tmp_path / "bad.safetensors"
    save_file({"a": np.zeros(1)}, path, {k: v for k, v in metadata.items() if v is not None})
    with pytest.raises(ModelFormatError, match="metadata"):
        Voice.load(path)


def test_an_unwritable_path_is_an_error_of_our_tree(voice, tmp_path):
    with pytest.raises(TwinvoxError, match="cannot write"):
        voice.save(tmp_path / "no" / "such" / "folder.safetensors")
