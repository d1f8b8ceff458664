"""Read a compiled Core ML model (``.mlmodelc``: model.mil and weights/) into a Program.

model.mil is the program of a package as text, beside the package's own weight files:

    program    = "program" "(" version ")" [attributes] "{" {function} "}"
    function   = "func" name "<" opset ">" "(" [type name {"," type name}] ")" [attributes]
                 "{" {operation} "}" "->" "(" [name {"," name}] ")" ";"
    operation  = type name {"," type name} "=" kind "(" [name "=" operands] ")" [attributes] ";"
    operands   = operand | "(" operand {"," operand} ")"
    operand    = name | value
    attributes = "[" name "=" value {"," name "=" value} "]"
    value      = type "(" (literal | "BLOBFILE" "(" "path" "=" value "," "offset" "=" value ")") ")"
    type       = "tensor" "<" dtype "," "[" sizes "]" ">" | dtype | other "<" ... ">"

Version 1.0 spells a scalar's type ``tensor<int32, []>``, version 1.3 ``int32``; both are read
whatever the version says. The function says all that is needed of inputs and outputs, so the files
that describe the model to Core ML (coremldata.bin, metadata.json, analytics/) are not read.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from twinvox.errors import ModelFormatError, ModelNotFoundError, UnsupportedOpError
from twinvox.mil.layout import compiled_program
from twinvox.mil.literals import Literal, array_of, items, pairs, range_of, shape_of, size_of
from twinvox.mil.program import Constant, Feature, Operand, Operation, Program, TensorType, Value
from twinvox.mil.scanner import Scanner
from twinvox.mil.weights import NUMPY_DTYPES, SUB_BYTE_BITS, WeightFolder

_DTYPES = {*NUMPY_DTYPES, *SUB_BYTE_BITS, "string"}
_NO_TENSORS = ("dict", "list", "state", "tuple")
_STRING, _OFFSET = TensorType("string", ()), TensorType("uint64", ())
_CONTROL_FLOW = ("cond", "while_loop")
_TENSOR_TYPE = re.compile(r"tensor\s*<\s*(\w+)\s*,\s*\[\s*([^\]]*?)\s*\]\s*>")


def read_compiled(path: Path | str) -> Program:
    """Read the ML Program in the compiled model at ``path``.

    Raises ModelNotFoundError where a file is missing; ModelFormatError, with the line and column
    in model.mil, where one is damaged or is not an ML Program; UnsupportedOpError for states,
    control flow and several functions of which none is called main.
    """
    path = Path(path)
    file = compiled_program(path)
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"{file} is not text: {error}") from error
    except OSError as error:
        raise ModelNotFoundError(f"{file} cannot be read: {error}") from error
    return _Reader(path, Scanner(text, file)).program()


@dataclass
class _Flexible:
    """What FlexibleShapeInformation says of the inputs, by name."""

    defaults: dict[str, tuple[int, ...]] = field(default_factory=dict)
    ranges: dict[str, tuple[tuple[int, int | None], ...]] = field(default_factory=dict)
    enumerated: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, literal: Constant | Literal) -> "_Flexible":
        found = cls()
        for form, entries in pairs(literal):
            for name, sizes in pairs(entries):
                if form == "DefaultShapes":
                    found.defaults[name] = shape_of(sizes)
                elif form == "RangeDims":
                    found.ranges[name] = tuple(range_of(pair) for pair in items(sizes))
                elif form == "EnumeratedShapes":  # name is that of a combination of shapes
                    for input_name, shape in pairs(sizes):
                        shapes = found.enumerated.setdefault(input_name, [])
                        if (combined := shape_of(shape)) not in shapes:
                            shapes.append(combined)
                else:
                    raise ValueError(f"{form} is not known")
        return found


class _Reader:
    """Descends through the text of one model."""

    def __init__(self, path: Path, scanner: Scanner) -> None:
        self.model = path.name
        self.scanner = scanner
        self.weights = WeightFolder(path / "weights")
        self.tensor_types: dict[str, TensorType] = {}

    def program(self) -> Program:
        scanner = self.scanner
        scanner.need("program", "(")
        scanner.word("a version")
        scanner.need(")")
        self._attributes()
        scanner.need("{")
        functions: dict[str, Program] = {}
        while not scanner.take("}"):
            scanner.need("func")
            start = scanner.index
            name = scanner.name("the name of a function")
            if name in functions:
                scanner.fail(f"function {name!r} is defined twice", start)
            functions[name] = self._function()
        if not scanner.at_end():
            scanner.expected("the end")
        if not functions:
            scanner.fail("the program has no function", 0)
        if len(functions) > 1 and "main" not in functions:
            raise UnsupportedOpError(
                f"{self.model}: a program with several functions is not supported unless one is "
                f"main: {', '.join(sorted(functions))}"
            )
        return functions.get("main") or functions.popitem()[1]

    def _function(self) -> Program:
        scanner = self.scanner
        self.types: dict[str, TensorType] = {}
        self.constants: dict[str, Constant] = {}
        self.operations: list[Operation] = []
        inputs: list[Value] = []
        outputs: list[Value] = []
        scanner.need("<")
        opset = scanner.name("an opset")
        scanner.need(">", "(")
        start = scanner.index
        scanner.items(")", lambda: inputs.append(self._declaration()))
        self._define(inputs, start)
        flexible = self._flexible()
        scanner.need("{")
        while not scanner.take("}"):
            self._operation()
        scanner.need("->", "(")
        scanner.items(")", lambda: outputs.append(self._reference()))
        scanner.need(";")
        return Program(
            name=self.model,
            opset=opset,
            features_in=self._features(inputs, flexible, start),
            features_out=self._features(outputs, _Flexible(), start),
            inputs=tuple(inputs),
            operations=tuple(self.operations),
            outputs=tuple(value.name for value in outputs),
            constants=self.constants,
            weights_folder=self.weights.path,
        )

    def _operation(self) -> None:
        scanner = self.scanner
        start = scanner.index
        outputs = [self._declaration()]
        while scanner.take(","):
            outputs.append(self._declaration())
        scanner.need("=")
        kind = scanner.name("an operator")
        name = outputs[0].name
        if kind in _CONTROL_FLOW:
            message = f"{name!r} is of kind {kind}; control flow is not supported"
            scanner.fail(message, start, UnsupportedOpError)
        inputs: dict[str, tuple[Operand, ...]] = {}

        def argument() -> None:
            parameter = scanner.name("a parameter")
            scanner.need("=")
            inputs[parameter] = self._operands()

        scanner.need("(")
        scanner.items(")", argument)
        attributes = self._attributes()
        scanner.need(";")
        self._define(outputs, start)
        if kind == "const":
            self.constants[name] = self._tensor(
                attributes.get("val"), "val", outputs[0].type, start
            )
            return
        if "name" in attributes:
            name = self._tensor(attributes.pop("name"), "name", _STRING, start).array.item()
        if kind.startswith("constexpr_"):  # up to opset ios17 the operands are attributes
            for parameter, value in attributes.items():
                inputs[parameter] = (self._tensor(value, parameter, None, start),)
        self.operations.append(Operation(kind, name, inputs, tuple(outputs)))

    def _tensor(
        self, value: Constant | Literal | None, name: str, kind: TensorType | None, start: int
    ) -> Constant:
        """``value`` if it is a tensor, and of the type ``kind`` where one is asked for."""
        if not isinstance(value, Constant):
            found = "missing" if value is None else "no tensor"
            self.scanner.fail(f"{name} is {found}", start)
        if kind is not None and value.type != kind:
            self.scanner.fail(f"{name} is a {value.type}, expected a {kind}", start)
        return value

    def _declaration(self) -> Value:
        start = self.scanner.index
        kind = self._type()
        name = self.scanner.name()
        if not isinstance(kind, TensorType):
            message = f"{name!r} has type {kind}; only tensors are supported"
            self.scanner.fail(message, start, UnsupportedOpError)
        return Value(name, kind)

    def _define(self, values: list[Value], start: int) -> None:
        for value in values:
            if value.name in self.types:
                self.scanner.fail(f"{value.name!r} is defined twice", start)
            self.types[value.name] = value.type

    def _reference(self) -> Value:
        start = self.scanner.index
        name = self.scanner.name()
        if name not in self.types:
            self.scanner.fail(f"{name!r} is not defined", start)
        return Value(name, self.types[name])

    def _operands(self) -> tuple[Operand, ...]:
        if not self.scanner.take("("):
            return (self._operand(),)
        operands: list[Operand] = []
        self.scanner.items(")", lambda: operands.append(self._operand()))
        return tuple(operands)

    def _operand(self) -> Operand:
        if not self.scanner.at_immediate():
            return self._reference().name
        start = self.scanner.index
        return self._tensor(self._value(), "the operand", None, start)

    def _attributes(self) -> dict[str, Constant | Literal]:
        scanner = self.scanner
        found: dict[str, Constant | Literal] = {}

        def attribute() -> None:
            name = scanner.name("an attribute")
            scanner.need("=")
            found[name] = self._value()

        if scanner.take("["):
            scanner.items("]", attribute)
        return found

    def _type(self) -> TensorType | str:
        """A tensor's type, or the word for a type that is none."""
        start = self.scanner.index
        if (written := self.scanner.tensor_type()) is not None:
            if written not in self.tensor_types:
                self.tensor_types[written] = self._tensor_type(written, start)
            return self.tensor_types[written]
        word = self.scanner.name("a type")
        if word in _DTYPES:
            return TensorType(word, ())
        if word not in _NO_TENSORS:
            self.scanner.fail(f"unknown type {word!r}", start)
        self.scanner.skip_angles()
        return word

    def _tensor_type(self, written: str, start: int) -> TensorType:
        found = _TENSOR_TYPE.fullmatch(written)
        if found is None:
            self.scanner.fail(f"expected tensor<dtype, [sizes]>, found {written!r}", start)
        dtype, dimensions = found.groups()
        if dtype not in _DTYPES:
            self.scanner.fail(f"unknown dtype {dtype!r}", start, UnsupportedOpError)
        sizes: list[int | None] = []
        for size in dimensions.split(",") if dimensions else ():
            size = size.strip()
            try:
                sizes.append(None if size == "?" else size_of(size))
            except ValueError as error:
                self.scanner.fail(str(error), start)
        return TensorType(dtype, tuple(sizes))

    def _value(self) -> Constant | Literal:
        scanner = self.scanner
        start = scanner.index
        kind = self._type()
        scanner.need("(")
        if isinstance(kind, TensorType):
            if None in kind.shape:
                scanner.fail(f"a constant of type {kind} has no fixed shape", start)
            found: Constant | Literal = (
                self._blob(kind, start)
                if scanner.take("BLOBFILE")
                else self._immediate(kind, start)
            )
        elif scanner.take(")"):
            return ()
        else:
            found = scanner.literal()
        scanner.need(")")
        return found

    def _immediate(self, kind: TensorType, start: int) -> Constant:
        literal = self.scanner.literal()
        try:
            return Constant(kind, array_of(kind, literal))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            self.scanner.fail(f"not a {kind}: {error}", start)

    def _blob(self, kind: TensorType, start: int) -> Constant:
        scanner = self.scanner
        scanner.need("(", "path", "=")
        path = self._scalar(_STRING)
        scanner.need(",", "offset", "=")
        offset = self._scalar(_OFFSET)
        scanner.need(")")
        try:
            blob = self.weights.blob(path, offset, kind.dtype, kind.size, str(kind))
        except ModelFormatError as error:
            scanner.fail(str(error), start)
        return Constant(kind, blob)

    def _scalar(self, kind: TensorType) -> Any:
        start = self.scanner.index
        if (found := self._type()) != kind:
            self.scanner.fail(f"expected a {kind.dtype}, found a {found}", start)
        self.scanner.need("(")
        constant = self._immediate(kind, start)
        self.scanner.need(")")
        return constant.array.item()

    def _flexible(self) -> _Flexible:
        start = self.scanner.index
        literal = self._attributes().get("FlexibleShapeInformation", ())
        try:
            return _Flexible.of(literal)
        except (TypeError, ValueError) as error:
            self.scanner.fail(f"FlexibleShapeInformation is not understood: {error}", start)

    def _features(
        self, values: list[Value], flexible: _Flexible, start: int
    ) -> tuple[Feature, ...]:
        try:
            return tuple(_feature(value, self.model, flexible) for value in values)
        except (ModelFormatError, UnsupportedOpError) as error:
            self.scanner.fail(str(error), start, type(error))


def _feature(value: Value, where: str, flexible: _Flexible) -> Feature:
    shape = value.type.shape
    static = tuple(size for size in shape if size is not None)
    return Feature.declared(
        value,
        where,
        default=static if len(static) == len(shape) else flexible.defaults.get(value.name, ()),
        ranges=flexible.ranges.get(value.name, ()),
        enumerated=tuple(flexible.enumerated.get(value.name, ())),
    )
