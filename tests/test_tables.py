import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save, save_file

from twinvox.errors import ContractError, ModelFormatError, ModelNotFoundError, TwinvoxError
from twinvox.tables import EmbeddingTable

SHAPE = (7, 5)
VALUES = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)


def container(header, data=b""):
    encoded = json.dumps(header).encode() if isinstance(header, dict | list) else header
    encoded += b" " * (-len(encoded) % 8)
    return struct.pack("<Q", len(encoded)) + encoded + data


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.safetensors"


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rows_of_a_table_among_others(path, dtype):
    others = {"a": np.ones((2, 3), np.int64), "z": np.zeros(3, np.float16)}
    save_file({"speech": VALUES.astype(dtype), **others}, path, {"format": "pt"})
    table = EmbeddingTable.open(path, "speech", SHAPE)
    assert (table.path, table.name, table.values.dtype) == (path, "speech", dtype)
    out = np.empty((3, 5), np.float32)
    table.gather(np.array([6, 0, 6], np.int32), out)
    np.testing.assert_array_equal(out, VALUES.astype(dtype)[[6, 0, 6]])


def test_the_table_is_mapped_and_read_only(path):
    save_file({"speech": VALUES}, path)
    table = EmbeddingTable.open(str(path), "speech", SHAPE)
    assert not table.values.flags.owndata
    assert not table.values.flags.writeable
    with path.open("r+b") as file:
        file.seek(-4, 2)
        file.write(struct.pack("<f", 42.0))
    assert table.values[-1, -1] == 42.0


def test_an_id_without_a_row(path):
    save_file({"speech": VALUES}, path)
    table = EmbeddingTable.open(path, "speech", SHAPE)
    message = r"ids\[1\] is 7, the table has 7 rows \(speech of .*table.safetensors\)"
    with pytest.raises(ContractError, match=message):
        table.gather(np.array([0, 7], np.int32), np.empty((2, 5), np.float32))
    with pytest.raises(ValueError, match=r"out must be \[1, 5\]"):
        table.gather(np.array([0], np.int32), np.empty((2, 5), np.float32))


def test_a_missing_file(path):
    with pytest.raises(ModelNotFoundError, match=r"table\.safetensors cannot be read"):
        EmbeddingTable.open(path, "speech", SHAPE)
    with pytest.raises(ModelNotFoundError, match="cannot be read"):
        EmbeddingTable.open(path.parent, "speech", SHAPE)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"text": VALUES}, "holds text, but no tensor speech"),
        ({}, "holds nothing, but no tensor speech"),
        ({"speech": VALUES.astype(np.float64)}, r"is F64 \[7, 5\]; expected F16 or F32 \[7, 5\]"),
        ({"speech": VALUES.T.copy()}, r"is F32 \[5, 7\]; expected F16 or F32 \[7, 5\]"),
        ({"speech": VALUES[:6]}, r"is F32 \[6, 5\]"),
        ({"speech": VALUES.reshape(1, 7, 5)}, r"is F32 \[1, 7, 5\]"),
    ],
)
def test_another_tensor_than_expected(path, tensors, message):
    save_file(tensors, path)
    with pytest.raises(ModelFormatError, match=message):
        EmbeddingTable.open(path, "speech", SHAPE)


def entry(**changed):
    return {"speech": {"dtype": "F32", "shape": [7, 5], "data_offsets": [0, 140]} | changed}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"short", "header would end at byte"),
        (b"version https://git-lfs.github.com/spec/v1", "no safetensors file"),
        (struct.pack("<Q", 2**63) + b"{}", "no safetensors file, or a truncated one"),
        (struct.pack("<Q", 0) + b"{}", "no safetensors file, or a truncated one"),
        (container(b"{not json"), "damaged safetensors header"),
        (container(b"\xff\xfe\xff"), "damaged safetensors header"),
        (container(b"[" * 100_000), "damaged safetensors header"),
        (container([1]), "it is no JSON object"),
        (container({"speech": 3}), "no tensor speech"),
        (container({"speech": {}}), "is None None; expected"),
        (container(entry(data_offsets=[0, 139]), bytes(200)), "do not enclose 140 bytes"),
        (container(entry(data_offsets=[-4, 136]), bytes(200)), "do not enclose 140 bytes"),
        (container(entry(data_offsets=[0]), bytes(200)), r"data offsets \[0\]"),
        (container(entry(data_offsets=None), bytes(200)), "data offsets None"),
        (container(entry(data_offsets=[0, "x"]), bytes(200)), "do not enclose"),
        (container(entry(), bytes(139)), "the file is truncated: fetch it again"),
        (container(entry(data_offsets=[1, 141]), bytes(141)), "is not aligned to 4"),
    ],
)
def test_damaged_files(path, content, message):
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=message):
        EmbeddingTable.open(path, "speech", SHAPE)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_any_damage_is_an_error_of_ours_or_harmless(tmp_path_factory, data):
    content = bytearray(save({"speech": VALUES}))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, 100))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(0, len(content))) :]
    path = tmp_path_factory.getbasetemp() / "damaged.safetensors"
    path.write_bytes(content)
    try:
        table = EmbeddingTable.open(path, "speech", SHAPE)
    except TwinvoxError:
        return
    table.gather(np.arange(7, dtype=np.int32), np.empty(SHAPE, np.float32))
