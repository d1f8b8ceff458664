"""A MIL program in memory, free of the file format it came from.

A program is one function: named tensors in, a list of operations in order, named tensors out.
Constants stay where they are stored until someone asks for their array.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from twinvox.errors import ModelFormatError, UnsupportedOpError
from twinvox.mil.weights import NUMPY_DTYPES, Blob

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int | None, ...]
"""Sizes in order; None where the size is only known when the model runs."""


@dataclass(frozen=True)
class TensorType:
    """``dtype`` is MIL's own word: fp16, fp32, int8 ... uint32, bool, string."""

    dtype: str
    shape: Shape

    @property
    def size(self) -> int:
        """The number of values; 0 where it is only known when the model runs."""
        return prod(size or 0 for size in self.shape)

    @property
    def known(self) -> "TensorType":
        """The type less what is not known of a result declared so. No tensor of Core ML is empty:
        coremltools declares a size of 0 where a reshape keeps that of a flexible axis."""
        return replace(self, shape=tuple(size or None for size in self.shape))

    def __str__(self) -> str:
        dims = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"tensor<{self.dtype}, [{dims}]>"


@dataclass(frozen=True)
class Value:
    """A named result: an input of the function or an output of an operation."""

    name: str
    type: TensorType


@dataclass(frozen=True, eq=False)
class Constant:
    """A value known before the model runs: an array, or a blob left in the weight file."""

    type: TensorType
    data: "Array | Blob"

    @cached_property
    def array(self) -> Array:
        """The value as an array of ``type.shape``; a view of the mapped file for a blob."""
        if isinstance(self.data, Blob):
            return self.data.array(self.size).reshape(self.shape)
        return self.data

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(size or 0 for size in self.type.shape)

    @property
    def size(self) -> int:
        return self.type.size


Operand = str | Constant
"""The name of a value, or a constant written in place."""


@dataclass(frozen=True, eq=False)
class Operation:
    kind: str
    name: str
    inputs: dict[str, tuple[Operand, ...]]
    outputs: tuple[Value, ...]


@dataclass(frozen=True)
class Feature:
    """An input or output as the model's description declares it.

    ``shape`` holds None on flexible axes. ``default_shape`` is fully static, or empty where the
    description gives no shape (usual for outputs). ``ranges`` has (lowest, highest or None for
    no limit) for each axis; ``enumerated_shapes`` the only shapes allowed, where there are any.
    """

    name: str
    dtype: str
    shape: Shape
    default_shape: tuple[int, ...] = ()
    ranges: tuple[tuple[int, int | None], ...] = ()
    enumerated_shapes: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def declared(
        cls,
        value: Value,
        where: str,
        *,
        dtype: str = "",
        default: tuple[int, ...] = (),
        ranges: tuple[tuple[int, int | None], ...] = (),
        enumerated: tuple[tuple[int, ...], ...] = (),
    ) -> "Feature":
        """What the description at ``where`` says of ``value``; the dtype is the value's own unless
        it says otherwise.

        Raises ModelFormatError where the ranks differ, UnsupportedOpError where the values are no
        numbers.
        """
        dtype = dtype or value.type.dtype
        for kind in (value.type.dtype, dtype):
            if kind not in NUMPY_DTYPES:
                raise UnsupportedOpError(
                    f"{where}: {value.name!r} is of dtype {kind}, not of numbers"
                )
        rank = len(value.type.shape)
        if any(len(sizes) != rank for sizes in enumerated) or (ranges and len(ranges) != rank):
            raise ModelFormatError(
                f"{where}: {value.name!r} is declared with another rank than {value.type}"
            )
        shape = value.type.known.shape
        if enumerated:
            shape = tuple(
                sizes[0] if len(set(sizes)) == 1 else None
                for sizes in zip(*enumerated, strict=True)
            )
        elif ranges:
            shape = tuple(low if low == high else None for low, high in ranges)
        elif default and None not in shape:
            shape = default
        return cls(value.name, dtype, shape, default, ranges, enumerated)


@dataclass(frozen=True, eq=False)
class Program:
    """One function of a model and what the model's description says of it.

    ``weights_folder`` is where the blobs' files lie, None where the program has no blob.
    """

    name: str
    opset: str
    features_in: tuple[Feature, ...]
    features_out: tuple[Feature, ...]
    inputs: tuple[Value, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[str, ...]
    constants: dict[str, Constant] = field(default_factory=dict)
    weights_folder: Path | None = None
