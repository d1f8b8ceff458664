"""weight.bin: the constants of a MIL program, one after another in a memory-mapped file.

A 64-byte header (uint32 count, uint32 version 2), then blobs. A reference to a blob is the offset
of its 64-byte metadata block: uint32 0xDEADBEEF, uint32 dtype code, uint64 size in bytes,
uint64 offset of the data, which is 64-byte aligned. Everything is little-endian.
"""

import struct
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from twinvox.errors import ModelFormatError, ModelNotFoundError

_MODEL_PATH = "@model_path/"
_HEADER_BYTES = 64
_ALIGNMENT = 64
_VERSION = 2
_MAGIC = 0xDEADBEEF
_METADATA = struct.Struct("<IIQQ")

DTYPES = {
    1: "fp16",
    2: "fp32",
    3: "uint8",
    4: "int8",
    6: "int16",
    7: "uint16",
    8: "int4",
    9: "uint1",
    10: "uint2",
    11: "uint4",
    12: "uint3",
    13: "uint6",
    14: "int32",
    15: "uint32",
}
SUB_BYTE_BITS = {"int4": 4, "uint1": 1, "uint2": 2, "uint3": 3, "uint4": 4, "uint6": 6}
NUMPY_DTYPES: dict[str, np.dtype[Any]] = {
    "fp16": np.dtype("<f2"),
    "fp32": np.dtype("<f4"),
    "fp64": np.dtype("<f8"),
    "int8": np.dtype("i1"),
    "int16": np.dtype("<i2"),
    "int32": np.dtype("<i4"),
    "int64": np.dtype("<i8"),
    "uint8": np.dtype("u1"),
    "uint16": np.dtype("<u2"),
    "uint32": np.dtype("<u4"),
    "uint64": np.dtype("<u8"),
    "bool": np.dtype("?"),
}


def unpack_bits(packed: np.ndarray[Any, Any], dtype: str, count: int) -> np.ndarray[Any, Any]:
    """Spread ``count`` values of a sub-byte dtype, least significant bit first, over bytes."""
    width = SUB_BYTE_BITS[dtype]
    bits = np.unpackbits(packed, count=count * width, bitorder="little").reshape(count, width)
    values = np.packbits(bits, axis=1, bitorder="little")[:, 0]
    if dtype.startswith("u"):
        return values
    sign = 1 << (width - 1)
    return (values.astype(np.int8) ^ sign) - np.int8(sign)


class WeightFile:
    """The mapped file; every access is checked against its size."""

    def __init__(self, path: Path) -> None:
        """Raises ModelNotFoundError where the file is missing, ModelFormatError where it is
        not a version 2 weight file."""
        self.path = path
        try:
            size = path.stat().st_size
        except OSError as error:
            raise ModelNotFoundError(f"weight file {path} cannot be read: {error}") from error
        if size < _HEADER_BYTES:
            raise ModelFormatError(
                f"{path}: {size} bytes are too few for a weight file's {_HEADER_BYTES}-byte header"
            )
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        version = int.from_bytes(self._bytes[4:8].tobytes(), "little")
        if version != _VERSION:
            raise ModelFormatError(
                f"{path}: weight file version {version} at offset 4, expected {_VERSION}"
            )

    def blob(self, offset: int) -> "Blob":
        """The blob whose metadata lies at ``offset``; raises ModelFormatError where there is
        none or where it does not fit into the file."""
        end = len(self._bytes)
        if offset + _HEADER_BYTES > end:
            raise ModelFormatError(
                f"{self.path}: blob metadata at offset {offset} lies beyond the end ({end} bytes);"
                " the file is truncated"
            )
        block = self._bytes[offset : offset + _METADATA.size].tobytes()
        magic, code, nbytes, start = _METADATA.unpack(block)
        if magic != _MAGIC:
            raise ModelFormatError(
                f"{self.path}: no blob at offset {offset} (found 0x{magic:08X}, "
                f"expected 0x{_MAGIC:08X})"
            )
        if code not in DTYPES:
            raise ModelFormatError(f"{self.path}: unknown dtype code {code} at offset {offset}")
        if start + nbytes > end:
            raise ModelFormatError(
                f"{self.path}: the blob at offset {offset} ends at byte {start + nbytes}, the file"
                f" at {end}; the file is truncated"
            )
        return Blob(self, DTYPES[code], start, nbytes)

    def check(self) -> None:
        """Walk over all blobs, which follow one another. Raises ModelFormatError as ``blob``."""
        offset = _HEADER_BYTES
        for _ in range(int.from_bytes(self._bytes[:4].tobytes(), "little")):
            blob = self.blob(offset)
            end = blob.offset + blob.nbytes
            offset = -(-end // _ALIGNMENT) * _ALIGNMENT

    def read(self, offset: int, nbytes: int) -> np.ndarray[Any, Any]:
        return self._bytes[offset : offset + nbytes]


@dataclass(frozen=True, eq=False)
class Blob:
    """``nbytes`` bytes of ``dtype`` at ``offset`` in ``file``."""

    file: WeightFile
    dtype: str
    offset: int
    nbytes: int

    def array(self, count: int) -> np.ndarray[Any, Any]:
        """The values, flat; sub-byte dtypes are unpacked to one byte each."""
        data = self.file.read(self.offset, self.nbytes)
        if self.dtype in SUB_BYTE_BITS:
            return unpack_bits(data, self.dtype, count)
        return data.view(NUMPY_DTYPES[self.dtype])


class WeightFolder:
    """The folder of a model's weight files, each mapped when a blob of it is first asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: dict[str, WeightFile] = {}

    @property
    def path(self) -> Path | None:
        """Where the blobs asked for lie; None where nobody asked."""
        return self._path if self._files else None

    def blob(self, reference: str, offset: int, dtype: str, count: int, where: str) -> Blob:
        """The blob at ``offset`` of the file that a program calls ``reference``.

        Raises ModelFormatError where it does not hold ``count`` values of ``dtype`` for ``where``
        or the file is not one of this folder; ModelNotFoundError where the file is missing.
        """
        relative = PurePosixPath(reference.removeprefix(_MODEL_PATH))
        if len(relative.parts) != 2 or relative.parts[0] != "weights" or relative.name == "..":
            raise ModelFormatError(
                f"{where} points to {reference!r}; expected a file in {_MODEL_PATH}weights/"
            )
        file = self._files.get(relative.name)
        if file is None:
            file = WeightFile(self._path / relative.name)
            self._files[relative.name] = file
        blob = file.blob(offset)
        if blob.dtype != dtype or blob.nbytes != (count * _bits(dtype) + 7) // 8:
            raise ModelFormatError(
                f"{file.path}: the blob at offset {offset} holds {blob.nbytes} bytes of "
                f"{blob.dtype}; {where} expects {count} values of {dtype}"
            )
        return blob


def _bits(dtype: str) -> int:
    return SUB_BYTE_BITS.get(dtype) or NUMPY_DTYPES[dtype].itemsize * 8
