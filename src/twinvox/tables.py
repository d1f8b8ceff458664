"""Embedding tables: a tensor of a safetensors file, memory-mapped, whose rows are looked up by id.

The file is eight bytes of header length (little-endian), a JSON header of
{name: {"dtype", "shape", "data_offsets"}} and the data, to whose start the offsets are relative.
"""

import json
import math
import mmap
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from twinvox._native.gather import gather
from twinvox.errors import ContractError, ModelFormatError, ModelNotFoundError

_LENGTH_BYTES = 8
_DTYPES: dict[str, np.dtype[Any]] = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4")}


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingTable:
    """The tensor ``name`` of ``path``: ``values`` float16 or float32 [rows, channels], mapped.

    Only the rows that are looked up are read from disk. Safe to share between threads.
    """

    path: Path
    name: str
    values: npt.NDArray[Any]

    @classmethod
    def open(cls, path: str | PathLike[str], name: str, shape: tuple[int, int]) -> Self:
        """Map the tensor ``name``, which has to have this shape [rows, channels].

        Raises ModelNotFoundError where the file is missing, ModelFormatError where it is damaged
        or holds no such tensor.
        """
        file = Path(path)
        mapped = _map(file)
        header, data_start = _read_header(file, mapped)
        entry = header.get(name)
        if not isinstance(entry, dict):
            held = ", ".join(sorted(header.keys() - {"__metadata__"})) or "nothing"
            raise ModelFormatError(f"{file} holds {held}, but no tensor {name}")
        return cls(file, name, _view(file, mapped, data_start, name, entry, shape))

    def gather(self, ids: npt.NDArray[np.int32], out: npt.NDArray[np.float32]) -> None:
        """Write the rows ``ids`` [n] to ``out`` float32 [n, channels], C-contiguous.

        Raises ContractError, and nothing is written, where the table has no such row.
        """
        try:
            gather(self.values, ids, out)
        except IndexError as error:
            raise ContractError(
                f"{error} ({self.name} of {self.path}): the ids are not of the vocabulary that "
                "this table is for"
            ) from None


def _map(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise ModelNotFoundError(f"embedding table {path} cannot be read: {error}") from error
    except ValueError:
        raise ModelFormatError(f"{path} is empty; expected a safetensors file") from None


def _read_header(path: Path, mapped: mmap.mmap) -> tuple[dict[str, Any], int]:
    """The header and where the data starts."""
    data_start = _LENGTH_BYTES + int.from_bytes(mapped[:_LENGTH_BYTES], "little")
    if not _LENGTH_BYTES < data_start <= len(mapped):
        raise ModelFormatError(
            f"{path} is no safetensors file, or a truncated one: its header would end at byte "
            f"{data_start}, the file ends at {len(mapped)}"
        )
    try:
        header = json.loads(mapped[_LENGTH_BYTES:data_start])
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{path} has a damaged safetensors header: {error}") from None
    if not isinstance(header, dict):
        raise ModelFormatError(f"{path} has a damaged safetensors header: it is no JSON object")
    return header, data_start


def _view(
    path: Path,
    mapped: mmap.mmap,
    data_start: int,
    name: str,
    entry: dict[str, Any],
    shape: tuple[int, int],
) -> npt.NDArray[Any]:
    dtype = _DTYPES.get(str(entry.get("dtype")))
    if dtype is None or entry.get("shape") != list(shape):
        raise ModelFormatError(
            f"{name} of {path} is {entry.get('dtype')} {entry.get('shape')}; expected "
            f"{' or '.join(_DTYPES)} {list(shape)}"
        )
    size = math.prod(shape) * dtype.itemsize
    match entry.get("data_offsets"):
        case [int(first), int(end)] if first >= 0 and end - first == size:
            start = data_start + first
        case offsets:
            raise ModelFormatError(
                f"{name} of {path} has data offsets {offsets}, which do not enclose {size} bytes"
            )
    if start + size > len(mapped):
        raise ModelFormatError(
            f"{name} of {path} ends at byte {start + size}, the file at {len(mapped)}; the "
            "file is truncated: fetch it again"
        )
    if start % dtype.itemsize:
        raise ModelFormatError(
            f"{name} of {path} starts at byte {start}, which is not aligned to "
            f"{dtype.itemsize}; write the file again with safetensors"
        )
    return np.frombuffer(mapped, dtype, math.prod(shape), start).reshape(shape)
