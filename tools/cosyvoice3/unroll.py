"""Repeats the step of an ML Program in place of a loop, without its weights.

coremltools takes 14 GB to convert a flow whose Euler loop is unrolled. Here it converts one step,
and the program is unrolled afterwards: what depends on the loop's state is repeated, constants and
all else stay single.
"""

from collections.abc import Mapping, MutableSequence, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from coremltools.converters.mil.backend.mil.helper import create_scalar_value, create_tensor_value
from coremltools.proto import MIL_pb2, Model_pb2

Array = np.ndarray


def unroll(
    package: Path, state: str, first: Array, result: str, steps: Sequence[Mapping[str, Array]]
) -> int:
    """Rewrite the program of ``package``; its number of operations afterwards.

    Its input ``state`` is ``first``, then the output ``result`` of the step before. ``steps`` holds
    the other inputs that vary, by name, of each step. All of them cease to be inputs.
    """
    path = package / "Data" / "com.apple.CoreML" / "model.mlmodel"
    model = Model_pb2.Model.FromString(path.read_bytes())
    (function,) = model.mlProgram.functions.values()
    (block,) = function.block_specializations.values()
    loop = {state, *steps[0]}
    types = {value.name: value.type for value in function.inputs if value.name in loop}
    once, repeated = _split(block.operations, loop)

    operations = list(once)
    names = {state: f"{state}_0"}
    operations.append(_constant(names[state], first, types[state]))
    for number, inputs in enumerate(steps):
        for name, value in inputs.items():
            names[name] = f"{name}_{number}"
            operations.append(_constant(names[name], value, types[name]))
        last = number == len(steps) - 1
        for operation in repeated:
            copy = MIL_pb2.Operation()
            copy.CopyFrom(operation)
            for argument in copy.inputs.values():
                for binding in argument.arguments:
                    binding.name = names.get(binding.name, binding.name)
            for output in copy.outputs:
                renamed = output.name if last else f"{output.name}_{number}"
                names[output.name] = output.name = renamed
            copy.attributes["name"].CopyFrom(create_scalar_value(copy.outputs[0].name))
            operations.append(copy)
        names[state] = names[result]

    _replace(block.operations, operations)
    _replace(function.inputs, [value for value in function.inputs if value.name not in loop])
    features = model.description.input
    _replace(features, [feature for feature in features if feature.name not in loop])
    path.write_bytes(model.SerializeToString())
    return sum(operation.type != "const" for operation in operations)


def _split(
    operations: Sequence[MIL_pb2.Operation], loop: set[str]
) -> tuple[list[MIL_pb2.Operation], list[MIL_pb2.Operation]]:
    """Those that do not depend on the names in ``loop``, and those that do."""
    varying = set(loop)
    parts: tuple[list[MIL_pb2.Operation], list[MIL_pb2.Operation]] = ([], [])
    for operation in operations:
        used = {
            binding.name for argument in operation.inputs.values() for binding in argument.arguments
        }
        depends = not varying.isdisjoint(used)
        parts[depends].append(operation)
        if depends:
            varying.update(output.name for output in operation.outputs)
    return parts


def _constant(name: str, value: Array, type_: MIL_pb2.ValueType) -> MIL_pb2.Operation:
    constant = MIL_pb2.Operation(type="const")
    constant.attributes["name"].CopyFrom(create_scalar_value(name))
    constant.attributes["val"].CopyFrom(create_tensor_value(value))
    constant.outputs.add(name=name, type=type_)
    return constant


def _replace(field: MutableSequence[Any], values: list[Any]) -> None:
    del field[:]
    field.extend(values)
