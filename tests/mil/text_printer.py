"""Print a .mlpackage as a .mlmodelc: the program as text in model.mil, the weights beside it.

    compiled = write_compiled(package, tmp_path / "double.mlmodelc", version="1.3")

The package is parsed with coremltools' classes, so the printer shares no code with the readers.
"""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from coremltools.proto import MIL_pb2, Model_pb2

VERSIONS = ("1.0", "1.3")
OPSETS = {"CoreML5": "ios15", "CoreML6": "ios16", "CoreML7": "ios17", "CoreML8": "ios18"}
BYTES_DTYPES = {"fp16": "<f2", "fp32": "<f4", "int8": "i1", "int16": "<i2", "int32": "<i4",
                "uint8": "u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8"}  # fmt: skip
BITS = {"int4": 4, "uint1": 1, "uint2": 2, "uint3": 3, "uint4": 4, "uint6": 6}


def write_compiled(package: Path, folder: Path, *, version: str = "1.0") -> Path:
    """``version`` chooses how scalars are spelled: "1.0" or "1.3"."""
    manifest = json.loads((package / "Manifest.json").read_bytes())
    entry = manifest["itemInfoEntries"][manifest["rootModelIdentifier"]]
    file = package / "Data" / entry["path"]
    model = Model_pb2.Model()
    model.ParseFromString(file.read_bytes())
    folder.mkdir(parents=True)
    (folder / "model.mil").write_text(Printer(version).program(model), encoding="utf-8")
    if (file.parent / "weights").exists():
        shutil.copytree(file.parent / "weights", folder / "weights")
    return folder


def compile_folder(source: Path, target: Path, *, version: str = "1.0") -> Path:
    """Copy a folder of models, its packages printed."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.mlpackage"))
    for package in source.rglob("*.mlpackage"):
        compiled = target / package.relative_to(source).with_suffix(".mlmodelc")
        write_compiled(package, compiled, version=version)
    return target


def dtype_name(number: int) -> str:
    return str(MIL_pb2.DataType.Name(number)).lower().replace("float", "fp")


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def hexadecimal(value: float) -> str:
    """As C prints "%a"."""
    if not np.isfinite(value):
        return str(value)
    digits, exponent = float(value).hex().split("p")
    whole, fraction = digits.split(".")
    fraction = fraction.rstrip("0")
    return f"{whole}{'.' if fraction else ''}{fraction}p{exponent}"


def listed(items: Iterable[str], brackets: str = "[]") -> str:
    return brackets[0] + ", ".join(items) + brackets[1]


def literal(values: Any, dtype: str) -> str:
    if isinstance(values, list):
        return listed(literal(value, dtype) for value in values)
    if dtype == "string":
        return quoted(values)
    if dtype == "bool":
        return "true" if values else "false"
    return hexadecimal(values) if dtype.startswith("fp") else str(int(values))


class Printer:
    def __init__(self, version: str) -> None:
        assert version in VERSIONS
        self.version = version

    def scalar_type(self, dtype: str) -> str:
        return f"tensor<{dtype}, []>" if self.version == "1.0" else dtype

    def type(self, message: Any) -> str:
        assert message.HasField("tensorType")
        tensor = message.tensorType
        dtype = dtype_name(tensor.dataType)
        if not tensor.dimensions:
            return self.scalar_type(dtype)
        sizes = (
            str(dim.constant.size) if dim.HasField("constant") else "?" for dim in tensor.dimensions
        )
        return f"tensor<{dtype}, {listed(sizes)}>"

    def value(self, message: Any) -> str:
        return f"{self.type(message.type)}({self.content(message)})"

    def content(self, message: Any) -> str:
        if message.HasField("blobFileValue"):
            blob = message.blobFileValue
            path = f"{self.scalar_type('string')}({quoted(blob.fileName)})"
            offset = f"{self.scalar_type('uint64')}({blob.offset})"
            return f"BLOBFILE(path = {path}, offset = {offset})"
        kind = message.type.tensorType
        dtype = dtype_name(kind.dataType)
        shape = [dim.constant.size for dim in kind.dimensions]
        tensor = message.immediateValue.tensor
        held = tensor.WhichOneof("value")
        if held != "bytes":
            values = np.array(list(getattr(tensor, held).values) if held else [], object)
        elif dtype in BITS:
            count, width = int(np.prod(shape)), BITS[dtype]
            raw = np.frombuffer(tensor.bytes.values, np.uint8)
            bits = np.unpackbits(raw, bitorder="little")[: count * width].reshape(count, width)
            values = bits.astype(int) @ (1 << np.arange(width))
            if not dtype.startswith("u"):
                values -= (values >> (width - 1)) << width
        else:
            values = np.frombuffer(tensor.bytes.values, BYTES_DTYPES[dtype])
        return literal(values.reshape(shape).tolist(), dtype)

    def attributes(self, messages: Any) -> str:
        entries = (f"{name} = {self.value(messages[name])}" for name in sorted(messages))
        return listed(entries) if messages else ""

    def argument(self, bindings: Any) -> str:
        operands = [
            self.value(binding.value) if binding.HasField("value") else binding.name
            for binding in bindings
        ]
        return operands[0] if len(operands) == 1 else listed(operands, "()")

    def operation(self, message: Any) -> str:
        assert not message.blocks
        outputs = ", ".join(f"{self.type(out.type)} {out.name}" for out in message.outputs)
        arguments = listed(
            (
                f"{name} = {self.argument(message.inputs[name].arguments)}"
                for name in sorted(message.inputs)
            ),
            "()",
        )
        attributes = self.attributes(message.attributes)
        return f"{outputs} = {message.type}{arguments}{attributes};"

    def flexible(self, description: Any) -> str:
        """FlexibleShapeInformation, where an input has more than one shape."""
        shapes, forms = [], {}
        for feature in description.input:
            array = feature.type.multiArrayType
            name = quoted(feature.name)
            if array.HasField("shapeRange"):
                ranges = (
                    listed((str(size.lowerBound), str(size.upperBound)))
                    for size in array.shapeRange.sizeRanges
                )
                forms.setdefault("RangeDims", []).append(f"{{{name}, {listed(ranges)}}}")
            elif array.HasField("enumeratedShapes"):
                for index, shape in enumerate(array.enumeratedShapes.shapes):
                    entry = f"{{{name}, {listed(map(str, shape.shape))}}}"
                    entry = f"{{{quoted(f'{feature.name}_{index}')}, {{{entry}}}}}"
                    forms.setdefault("EnumeratedShapes", []).append(entry)
            else:
                continue
            shapes.append(f"{{{name}, {listed(map(str, array.shape))}}}")
        if not shapes:
            return ""
        text = self.scalar_type("string")
        kind = f"tuple<{text}, dict<{text}, tensor<int32, [?]>>>"
        entries = [f'("DefaultShapes", {listed(shapes, "{}")})']
        entries += [f"({quoted(form)}, {listed(found, '{}')})" for form, found in forms.items()]
        kinds = ", ".join([kind] * len(entries))
        return f" [FlexibleShapeInformation = tuple<{kinds}>({listed(entries, '()')})]"

    def function(self, name: str, message: Any, description: Any) -> str:
        inputs = listed((f"{self.type(value.type)} {value.name}" for value in message.inputs), "()")
        block = message.block_specializations[message.opset]
        opset = OPSETS[message.opset]
        lines = [f"    func {name}<{opset}>{inputs}{self.flexible(description)} {{"]
        lines += [f"            {self.operation(operation)}" for operation in block.operations]
        lines += [f"        }} -> {listed(block.outputs, '()')};"]
        return "\n".join(lines)

    def program(self, model: Any) -> str:
        text = self.scalar_type("string")
        functions = (
            self.function(name, function, model.description)
            for name, function in model.mlProgram.functions.items()
        )
        return "\n".join(
            [
                f"program({self.version})",
                f'[buildInfo = dict<{text}, {text}>({{{{"coremlc-version", "3402.4.1"}}, '
                '{"coremltools-version", "9.0"}})]',
                "{",
                *functions,
                "}",
            ]
        )
