"""Kilobyte Core ML packages for tests, built with coremltools' MIL builder.

    package = build_package(
        tmp_path / "double.mlpackage",
        lambda x: {"y": mb.add(x=x, y=x)},
        {"x": Input((1, 3))},
    )

The function gets one MIL variable for each input, by name, and returns a variable (the output
"out") or a dict of named ones. coremltools' optimisation passes are skipped, so what the function
says is what the package holds.
"""

import gc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.mil import Function, Program, Symbol, types

__all__ = ["Input", "Range", "build_package", "mb"]

gc.freeze()  # coremltools collects garbage at every conversion; spare it what its import left

OPSETS = {name: getattr(ct.target, name) for name in ("iOS15", "iOS16", "iOS17", "iOS18")}


@dataclass(frozen=True)
class Range:
    """A flexible size."""

    low: int
    high: int
    default: int


@dataclass(frozen=True)
class Input:
    """``shape`` holds sizes and Ranges; ``enumerated`` lists the only shapes allowed, the first
    of which is the default."""

    shape: tuple[int | Range, ...] = ()
    dtype: type[np.generic] = np.float32
    enumerated: tuple[tuple[int, ...], ...] = ()

    def tensor_type(self, name: str) -> ct.TensorType:
        shape: Any = [
            ct.RangeDim(size.low, size.high, size.default) if isinstance(size, Range) else size
            for size in self.shape
        ]
        if self.enumerated:
            shape = ct.EnumeratedShapes([list(sizes) for sizes in self.enumerated])
        return ct.TensorType(name=name, shape=shape, dtype=self.dtype)


def build_package(
    path: Path,
    function: Callable[..., Any],
    inputs: dict[str, Input],
    *,
    opset: str = "iOS17",
) -> Path:
    """Write a package with one function at ``path``."""
    target = OPSETS[opset]
    types_in = [spec.tensor_type(name) for name, spec in inputs.items()]
    placeholders = {
        kind.name: mb.placeholder(
            shape=[
                Symbol(f"{kind.name}_{axis}") if flexible else size
                for axis, (size, flexible) in enumerate(_sizes(spec))
            ],
            dtype=types.numpy_type_to_builtin_type(spec.dtype),
        )
        for kind, spec in zip(types_in, inputs.values(), strict=True)
    }
    with Function(placeholders, opset_version=target) as main:
        result = function(**main.inputs)
        named = result if isinstance(result, dict) else {"out": result}
        outputs = []
        for name, variable in named.items():
            variable = mb.identity(x=variable, name=name)
            outputs.append(variable)
        main.set_outputs(outputs)
    program = Program()
    program.add_function("main", main)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # a folder that coremltools leaves open
        model = ct.convert(
            program,
            source="milinternal",
            convert_to="mlprogram",
            inputs=types_in,
            minimum_deployment_target=target,
            pass_pipeline=ct.PassPipeline.EMPTY,
            skip_model_load=True,
        )
    model.save(str(path))
    return path


def _sizes(spec: Input) -> list[tuple[int, bool]]:
    if spec.enumerated:
        return [(sizes[0], len(set(sizes)) > 1) for sizes in zip(*spec.enumerated, strict=True)]
    return [(0, True) if isinstance(size, Range) else (size, False) for size in spec.shape]
