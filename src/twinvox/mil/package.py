"""Read a Core ML ``.mlpackage`` (Manifest.json, model.mlmodel, weights/) into a Program."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from twinvox.errors import ModelFormatError, ModelNotFoundError, UnsupportedOpError
from twinvox.mil import schema
from twinvox.mil.layout import package_program
from twinvox.mil.program import (
    Array,
    Constant,
    Feature,
    Operand,
    Operation,
    Program,
    TensorType,
    Value,
)
from twinvox.mil.weights import NUMPY_DTYPES, SUB_BYTE_BITS, WeightFolder, unpack_bits

_DATA_TYPES = {
    1: "bool",
    2: "string",
    10: "fp16",
    11: "fp32",
    12: "fp64",
    21: "int8",
    22: "int16",
    23: "int32",
    24: "int64",
    25: "int4",
    31: "uint8",
    32: "uint16",
    33: "uint32",
    34: "uint64",
    35: "uint4",
    36: "uint2",
    37: "uint1",
    38: "uint6",
    39: "uint3",
}
_ARRAY_DATA_TYPES = {65552: "fp16", 65568: "fp32", 65600: "fp64", 131080: "int8", 131104: "int32"}


def read_package(path: Path | str) -> Program:
    """Read the ML Program in the package at ``path``.

    Raises ModelNotFoundError where a file is missing, ModelFormatError where one is damaged or
    is not an ML Program, UnsupportedOpError where the program has several functions or states.
    """
    path = Path(path)
    model_file = package_program(path)
    model = schema.Model()
    try:
        model.ParseFromString(model_file.read_bytes())
    except DecodeError as error:
        raise ModelFormatError(f"{model_file} is not a Core ML model: {error}") from error
    except OSError as error:
        raise ModelNotFoundError(f"{model_file} cannot be read: {error}") from error
    if not model.HasField("mlProgram"):
        kinds = [kind for kind in schema.FOREIGN_MODELS if model.HasField(kind)]
        raise ModelFormatError(
            f"{path.name} holds a Core ML model of kind {kinds[0] if kinds else 'unknown'} "
            f"(specification version {model.specificationVersion}), not an ML Program; convert it "
            "again with coremltools and convert_to='mlprogram'"
        )
    return _Reader(path.name, model_file.parent).program(model)


class _Reader:
    """Turns the messages of one model into a Program."""

    def __init__(self, name: str, model_folder: Path) -> None:
        self.name = name
        self.weights = WeightFolder(model_folder / "weights")

    def program(self, model: Any) -> Program:
        functions = model.mlProgram.functions
        if len(functions) != 1 or model.description.functions:
            raise UnsupportedOpError(
                f"{self.name}: a program with several functions is not supported: "
                + ", ".join(sorted(functions))
            )
        if model.description.state:
            names = ", ".join(state.name for state in model.description.state)
            raise UnsupportedOpError(f"{self.name}: models with states are not supported: {names}")
        ((_, function),) = functions.items()
        if function.opset not in function.block_specializations:
            raise ModelFormatError(f"{self.name}: the function has no block for {function.opset}")
        block = function.block_specializations[function.opset]
        constants: dict[str, Constant] = {}
        operations: list[Operation] = []
        for message in block.operations:
            if not message.outputs:
                raise ModelFormatError(f"{self.name}: a {message.type} has no output")
            if message.type == "const":
                constants[message.outputs[0].name] = self._constant(
                    message.attributes["val"], f"const {message.outputs[0].name!r}"
                )
            else:
                operations.append(self._operation(message))
        inputs = tuple(self._values(function.inputs, "input"))
        output_types = {value.name: value.type for op in operations for value in op.outputs}
        output_types |= {value.name: value.type for value in inputs}
        output_types |= {name: constant.type for name, constant in constants.items()}
        for name in block.outputs:
            if name not in output_types:
                raise ModelFormatError(f"{self.name}: output {name!r} is produced by no operation")
        input_types = {value.name: value.type for value in inputs}
        description = model.description
        return Program(
            name=self.name,
            opset=function.opset,
            features_in=self._features(description.input, input_types),
            features_out=self._features(description.output, output_types),
            inputs=inputs,
            operations=tuple(operations),
            outputs=tuple(block.outputs),
            constants=constants,
            weights_folder=self.weights.path,
        )

    def _operation(self, message: Any) -> Operation:
        name = message.outputs[0].name
        if "name" in message.attributes:
            name = self._constant(message.attributes["name"], message.type).array.item()
        where = f"{message.type} {name!r}"
        inputs: dict[str, tuple[Operand, ...]] = {
            key: tuple(
                self._constant(binding.value, where) if binding.HasField("value") else binding.name
                for binding in argument.arguments
            )
            for key, argument in message.inputs.items()
        }
        if message.type.startswith("constexpr_"):  # opset ios16 keeps the operands as attributes
            for key, value in message.attributes.items():
                if key != "name":
                    inputs[key] = (self._constant(value, where),)
        return Operation(message.type, name, inputs, tuple(self._values(message.outputs, where)))

    def _values(self, messages: Iterable[Any], where: str) -> Iterable[Value]:
        for message in messages:
            yield Value(message.name, self._type(message.type, f"{where} ({message.name})"))

    def _type(self, message: Any, where: str) -> TensorType:
        if not message.HasField("tensorType"):
            kinds = ("listType", "tupleType", "dictionaryType", "stateType")
            kind = next((kind for kind in kinds if message.HasField(kind)), "unknown type")
            raise UnsupportedOpError(f"{self.name}: {where} has {kind}; only tensors are supported")
        tensor = message.tensorType
        if tensor.dataType not in _DATA_TYPES:
            raise UnsupportedOpError(f"{self.name}: {where} has unknown dtype {tensor.dataType}")
        if any(dim.unknown.variadic for dim in tensor.dimensions):
            raise UnsupportedOpError(f"{self.name}: {where} has no known rank")
        shape = tuple(
            dim.constant.size if dim.HasField("constant") else None for dim in tensor.dimensions
        )
        return TensorType(_DATA_TYPES[tensor.dataType], shape)

    def _constant(self, message: Any, where: str) -> Constant:
        kind = self._type(message.type, where)
        if None in kind.shape:
            raise ModelFormatError(f"{self.name}: {where} is a constant without a fixed shape")
        if message.HasField("blobFileValue"):
            blob = message.blobFileValue
            place = (blob.fileName, blob.offset, kind.dtype, kind.size)
            return Constant(kind, self.weights.blob(*place, f"{self.name}: {where}"))
        if not message.immediateValue.HasField("tensor"):
            raise UnsupportedOpError(f"{self.name}: {where} holds a value that is no tensor")
        values = self._immediate(message.immediateValue.tensor, kind.dtype, kind.size)
        if values.size != kind.size:
            raise ModelFormatError(f"{self.name}: {where} holds {values.size} values for {kind}")
        return Constant(kind, values.reshape(kind.shape))

    def _immediate(self, tensor: Any, dtype: str, count: int) -> Array:
        if dtype == "string":
            return np.array(list(tensor.strings.values), dtype=object)
        if tensor.HasField("bytes"):
            data = np.frombuffer(tensor.bytes.values, np.uint8)
            if dtype in SUB_BYTE_BITS:
                if data.size * 8 < count * SUB_BYTE_BITS[dtype]:
                    return data[:0]
                return unpack_bits(data, dtype, count)
            item = NUMPY_DTYPES[dtype]
            whole: Array = data[: data.size // item.itemsize * item.itemsize].view(item)
            return whole
        for field in ("floats", "ints", "bools", "longInts", "doubles"):
            if tensor.HasField(field):
                values = list(getattr(tensor, field).values)
                return np.array(values, dtype=NUMPY_DTYPES.get(dtype, np.dtype("i1")))
        return np.empty(0)

    def _features(
        self, messages: Iterable[Any], types: dict[str, TensorType]
    ) -> tuple[Feature, ...]:
        return tuple(self._feature(message, types) for message in messages)

    def _feature(self, message: Any, types: dict[str, TensorType]) -> Feature:
        kind = next((f.name for f, _ in message.type.ListFields()), "unknown type")
        if kind != "multiArrayType":
            raise UnsupportedOpError(
                f"{self.name}: {message.name!r} is declared as {kind}; only arrays are supported"
            )
        if message.name not in types:
            raise ModelFormatError(
                f"{self.name}: the description names {message.name!r}, which the program lacks"
            )
        array = message.type.multiArrayType
        return Feature.declared(
            Value(message.name, types[message.name]),
            self.name,
            dtype=_ARRAY_DATA_TYPES.get(array.dataType, ""),
            default=tuple(array.shape),
            ranges=tuple(
                (int(size.lowerBound), int(size.upperBound) if size.upperBound >= 0 else None)
                for size in array.shapeRange.sizeRanges
            ),
            enumerated=tuple(tuple(shape.shape) for shape in array.enumeratedShapes.shapes),
        )
