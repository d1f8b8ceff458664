"""What every runtime offers: a session over one model with named, typed tensors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from twinvox.errors import ContractError

Array = npt.NDArray[Any]

MODEL_SUFFIXES = (".mlmodelc", ".mlpackage")
"""How the folder of a model may end, in the order in which a backend looks."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Name, shape and element type of one model input or output.

    ``shape`` holds None where a dimension is flexible, and is None where the model does not tell
    it. Where the model limits flexible sizes, ``shapes`` lists the complete shapes it accepts, or
    ``ranges`` the lowest and highest size (None: no limit) of each dimension.
    """

    name: str
    shape: tuple[int | None, ...] | None
    dtype: np.dtype[Any]
    shapes: Sequence[Sequence[int]] = ()
    ranges: Sequence[tuple[int, int | None]] = ()

    def admits(self, shape: Sequence[int]) -> bool:
        """Whether an array of ``shape`` is acceptable."""
        if self.shape is None:
            return True
        if self.shapes:
            return list(shape) in [list(accepted) for accepted in self.shapes]
        return (
            len(shape) == len(self.shape)
            and all(want in (None, got) for want, got in zip(self.shape, shape, strict=True))
            and all(
                low <= got and (high is None or got <= high)
                for got, (low, high) in zip(shape, self.ranges, strict=False)
            )
        )

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype} of any shape"
        dims = ", ".join("?" if size is None else str(size) for size in self.shape)
        limits = self.shapes or self.ranges
        return f"{self.dtype} [{dims}]" + (f" within {limits}" if limits else "")


class Session(Protocol):
    """A loaded model. Immutable and safe to use from several threads at once."""

    @property
    def inputs(self) -> Mapping[str, TensorSpec]:
        """The declared inputs, in the model's order where the runtime keeps it."""
        ...

    @property
    def outputs(self) -> Mapping[str, TensorSpec]:
        """The declared outputs, in the model's order where the runtime keeps it."""
        ...

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Run once. The arrays returned may be padded along rows: honour their strides."""
        ...

    def bind(
        self, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
    ) -> Callable[[], Mapping[str, Array]]:
        """Prepare repeated runs over buffers that the caller owns.

        ``outputs`` names a C-contiguous buffer for every output. Each call of the returned function
        reads ``inputs`` as they are then and says where each result is: in the buffer offered, or,
        where the runtime declined it, in another array that may be padded along rows.
        A binding belongs to one thread at a time; several bindings may run in parallel.
        """
        ...


@dataclass(frozen=True, slots=True)
class TensorContract:
    """What a backend expects of one tensor: name, a shape it must accept (None: any), dtype."""

    name: str
    shape: tuple[int, ...] | None
    dtype: type[np.generic]


@dataclass(frozen=True, slots=True)
class ModelContract:
    """What a backend expects of one model."""

    model: str
    inputs: tuple[TensorContract, ...]
    outputs: tuple[TensorContract, ...]


def check_contract(session: Session, contract: ModelContract) -> None:
    """Compare what the model declares with what the backend expects.

    Raises ContractError that names every difference at once.
    """
    differences = [
        *_differences("input", contract.inputs, session.inputs),
        *_differences("output", contract.outputs, session.outputs),
    ]
    if differences:
        raise ContractError(
            f"model {contract.model} does not fit its backend: " + "; ".join(differences)
        )


def _differences(
    kind: str, expected: Sequence[TensorContract], declared: Mapping[str, TensorSpec]
) -> list[str]:
    found = []
    for tensor in expected:
        spec = declared.get(tensor.name)
        want = f"{np.dtype(tensor.dtype)} {list(tensor.shape or ())}"
        if spec is None:
            found.append(f"{kind} {tensor.name} is missing (expected {want})")
        elif spec.dtype != tensor.dtype or (
            tensor.shape is not None and not spec.admits(tensor.shape)
        ):
            found.append(f"{kind} {tensor.name} is {spec}, expected {want}")
    names = {tensor.name for tensor in expected}
    found += [f"{kind} {name} is not expected" for name in declared if name not in names]
    return found
