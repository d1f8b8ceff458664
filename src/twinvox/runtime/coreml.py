"""ML Programs on Core ML, through the native bridge."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from twinvox.runtime.base import Array, TensorSpec
from twinvox.runtime.cache import cache_dir
from twinvox.runtime.compiled import open_compiled

_log = logging.getLogger("twinvox")


class CoreMLSession:
    """One model on Core ML; see ``runtime.base.Session``."""

    def __init__(self, model: Path, *, compute_units: str) -> None:
        # Not beside the package: that may be read-only, a hub's linked snapshot or, as the
        # embedded models are, part of an installed wheel.
        self._model = open_compiled(model, compute_units, cache_dir() / "compiled")
        self._inputs, self._outputs = (
            {feature[0]: TensorSpec(*feature) for feature in features}
            for features in (self._model.inputs, self._model.outputs)
        )

    @property
    def inputs(self) -> Mapping[str, TensorSpec]:
        return self._inputs

    @property
    def outputs(self) -> Mapping[str, TensorSpec]:
        return self._outputs

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        return {name: _in_rows(array) for name, array in self._model.predict(inputs).items()}

    def bind(
        self, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
    ) -> Callable[[], Mapping[str, Array]]:
        binding = self._model.bind(inputs, outputs)
        refusal: str | None = None

        def predict() -> Mapping[str, Array]:
            nonlocal refusal
            results = binding()
            if binding.refusal != refusal:
                refusal = binding.refusal
                _log.info("Core ML refused output buffers: %s", refusal)
            return {name: _in_rows(array) for name, array in results.items()}

        return predict


def _in_rows(array: Array) -> Array:
    """The array, or a copy of one whose rows are not contiguous and one after another."""
    axes = zip(array.strides, array.shape, strict=True)
    strides = [stride for stride, size in axes if size > 1] or [array.itemsize]
    if strides == sorted(strides, reverse=True) and strides[-1] == array.itemsize:
        return array
    return np.ascontiguousarray(array)
