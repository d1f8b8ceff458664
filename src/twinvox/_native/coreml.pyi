"""Core ML: compiling, opening and running models; built where the framework is."""

from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

_Array = npt.NDArray[Any]
_Feature = tuple[
    str,
    tuple[int | None, ...] | None,
    np.dtype[Any],
    list[list[int]],
    list[tuple[int, int | None]],
]

def compile_package(package: str) -> str:
    """Compile a .mlpackage; the path of the .mlmodelc, in a temporary folder that is the caller's.

    Raises ModelFormatError with Core ML's own words.
    """

@final
class Model:
    """A model that runs one prediction at a time; threads wait for each other.

    ``path`` is a .mlmodelc, ``compute_units`` one of all, cpu_only, cpu_and_gpu, cpu_and_ne. Raises
    ModelFormatError where Core ML cannot load it, or where an input or output is not a float32,
    float16 or int32 array of at most 8 axes.
    """

    def __new__(cls, path: str, compute_units: str) -> Self: ...
    @property
    def inputs(self) -> tuple[_Feature, ...]:
        """Name, shape, dtype, complete shapes accepted and ranges, as of runtime.base.TensorSpec.

        Ordered by name: Core ML does not keep the model's order. The shape of an output is None
        where the model does not declare it.
        """

    @property
    def outputs(self) -> tuple[_Feature, ...]: ...
    def predict(self, inputs: Mapping[str, _Array]) -> dict[str, _Array]:
        """Run once on copies of ``inputs``, which may have any strides.

        The arrays returned own their memory and have the strides that Core ML gave them. Raises
        SynthesisError with domain, code and text where Core ML fails, ValueError for a missing or
        unknown name, a wrong shape or after ``close``, TypeError for a wrong dtype.
        """

    def bind(self, inputs: Mapping[str, _Array], outputs: Mapping[str, _Array]) -> Binding:
        """Prepare predictions over memory of the caller: every input, and a buffer for each output.

        Rows may be padded. Raises ValueError and TypeError as ``predict`` does, and for an output
        that cannot be written to.
        """

    def close(self) -> None:
        """Unload the model, after the prediction that runs; what follows is a ValueError."""

@final
class Binding:
    """Core ML's view of bound buffers, which it keeps alive. Made by ``Model.bind``."""

    def __call__(self) -> dict[str, _Array]:
        """Predict from the inputs as they are now.

        Each result is the buffer offered, the same object, where Core ML wrote into it; else
        another array of any strides that owns its memory. Where Core ML fails with the buffers it
        is asked again without, and they are not offered again. Raises as ``Model.predict``.
        """

    @property
    def refusal(self) -> str | None:
        """Why the buffers are no longer offered: what Core ML said; None while they are."""
