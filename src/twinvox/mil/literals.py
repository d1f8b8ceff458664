"""What the literals of MIL text stand for: arrays, shapes, dictionaries."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from twinvox.mil.program import Array, TensorType
from twinvox.mil.weights import NUMPY_DTYPES, SUB_BYTE_BITS

Literal = str | list["Literal"] | tuple["Literal", ...]
"""A literal as written: a word, or a string with its quotes; a list for ``[...]``; a tuple for
``(...)`` and ``{...}``."""

_MAX_SIZE = 2**63 - 1
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_BOOLS = {"true": True, "false": False}


def array_of(kind: TensorType, literal: Literal) -> Array:
    """The array that ``literal`` spells; sub-byte dtypes take one byte for each value.

    Raises ArithmeticError, LookupError, TypeError or ValueError where it is no ``kind``.
    """
    nested = _each(literal, _READERS[kind.dtype])
    if kind.dtype.startswith("fp"):
        array = _narrowed(np.array(nested, np.float64), NUMPY_DTYPES[kind.dtype])
    elif kind.dtype == "string":
        array = np.array(nested, object)
    elif kind.dtype in SUB_BYTE_BITS:
        array = np.array(nested, np.uint8 if kind.dtype.startswith("u") else np.int8)
    else:
        array = np.array(nested, NUMPY_DTYPES[kind.dtype])
    if array.shape != kind.shape and (array.size or kind.size):
        raise ValueError(f"the literal's shape is {list(array.shape)}")
    return array.reshape(kind.shape)


def text_of(literal: Literal) -> str:
    if not isinstance(literal, str) or not literal.startswith('"'):
        raise ValueError(f"{literal} is no string")
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), literal[1:-1])


def items(literal: Any) -> Sequence[Literal]:
    """What stands in brackets."""
    if not isinstance(literal, list | tuple):
        raise ValueError(f"{literal} stands where brackets are expected")
    return literal


def pairs(literal: Any) -> Iterator[tuple[str, Literal]]:
    """The entries of a dictionary, or of a tuple of pairs."""
    for pair in items(literal):
        key, value = items(pair)
        yield text_of(key), value


def shape_of(literal: Literal) -> tuple[int, ...]:
    return tuple(map(size_of, items(literal)))


def range_of(literal: Literal) -> tuple[int, int | None]:
    """Lowest and highest size; a negative highest is no limit."""
    low, high = items(literal)
    if isinstance(high, str) and high.startswith("-"):
        return size_of(low), None
    if size_of(low) > size_of(high):
        raise ValueError(f"no size is in [{low}, {high}]")
    return size_of(low), size_of(high)


def size_of(literal: Literal) -> int:
    if not isinstance(literal, str):
        raise ValueError(f"{literal} stands where a size is expected")
    size = int(literal)
    if not 0 <= size <= _MAX_SIZE:
        raise ValueError(f"{size} is no size")
    return size


def _each(literal: Literal, read: Callable[[str], Any]) -> Any:
    if isinstance(literal, str):
        return read(literal)
    if isinstance(literal, tuple):
        raise ValueError("a tensor is written in square brackets")
    return [_each(item, read) for item in literal]


def _float(word: str) -> float:
    return float.fromhex(word) if "x" in word else float(word)


def _narrowed(wide: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(over="ignore"):
        array = wide.astype(dtype)
    if np.isinf(array).sum() > np.isinf(wide).sum():
        raise OverflowError(f"a number is too large for {dtype}")
    return array


def _integer(dtype: str) -> Callable[[str], int]:
    bits = SUB_BYTE_BITS.get(dtype) or NUMPY_DTYPES[dtype].itemsize * 8
    low, high = (0, 2**bits) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))

    def read(word: str) -> int:
        value = int(word)
        if not low <= value < high:
            raise OverflowError(f"{value} is not in [{low}, {high})")
        return value

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "string": text_of,
    "bool": _BOOLS.__getitem__,
    **{dtype: _float for dtype in NUMPY_DTYPES if dtype.startswith("fp")},
    **{dtype: _integer(dtype) for dtype in (*NUMPY_DTYPES, *SUB_BYTE_BITS) if "int" in dtype},
}
