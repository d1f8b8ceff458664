"""Translate a MIL program to an ONNX model that keeps the program's names, shapes and dtypes."""

from collections.abc import Sequence
from dataclasses import replace

import onnx
from onnx import helper

from twinvox.errors import ModelFormatError, UnsupportedOpError
from twinvox.mil.graph import ONNX_DTYPES, Graph, Tensor
from twinvox.mil.ops import Call, load
from twinvox.mil.program import Constant, Feature, Operation, Program

PRECISIONS = ("fp32", "fp16", "int8")


def to_onnx(
    program: Program,
    *,
    precision: str = "fp32",
    external_weights: bool = True,
    round_fp16: bool = False,
) -> onnx.ModelProto:
    """Translate ``program``.

    ``precision`` is that in which the program's fp16 values are computed: "fp32" promotes them,
    "fp16" keeps them, "int8" promotes them but computes products with large constant matrices in
    int8. ``external_weights`` leaves blobs where they are: their tensors name the
    weight file (by file name alone), offset and length, so the session must be told
    ``program.weights_folder``. ``round_fp16`` computes in fp32 but rounds the result of every
    fp16 operation to fp16, which shows overflow; it is for tests.

    Raises UnsupportedOpError naming the model, the operation and its kind.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision is {precision!r}; expected one of {', '.join(PRECISIONS)}")
    graph = Graph(
        promote=precision != "fp16", external=external_weights, quantize=precision == "int8"
    )
    return _Translation(program, graph, round_fp16).run()


class _Translation:
    def __init__(self, program: Program, graph: Graph, round_fp16: bool) -> None:
        self.program = program
        self.graph = graph
        self.round_fp16 = round_fp16
        self.registry = load()
        self.values: dict[str, Tensor | Constant] = dict(program.constants)

    def run(self) -> onnx.ModelProto:
        program = self.program
        declared = {feature.name: feature for feature in program.features_in}
        inputs = []
        for value in program.inputs:
            if value.name not in declared:
                raise ModelFormatError(
                    f"{program.name}: the program's input {value.name!r} is not declared"
                )
            feature = declared[value.name]
            inputs.append(_value_info(feature.name, feature))
            tensor = Tensor(feature.name, feature.dtype, feature.shape)
            computed = self.graph.computed(value.type.dtype)
            self.values[value.name] = self.graph.cast(tensor, computed)
        for operation in program.operations:
            self._operation(operation)
        outputs = []
        renamed: dict[str, str] = {}
        for feature in program.features_out:
            if feature.name in declared:
                raise UnsupportedOpError(
                    f"{program.name}: {feature.name!r} is both an input and an output"
                )
            outputs.append(_value_info(feature.name, feature))
            tensor = self.graph.cast(self._tensor(feature.name), feature.dtype)
            if self.graph.producer(tensor) is None or tensor.name in renamed:
                tensor = self.graph.node("Identity", tensor)
            renamed[tensor.name] = feature.name
        return self.graph.model(program.name, inputs, outputs, renamed)

    def _tensor(self, name: str) -> Tensor:
        value = self.values[name]
        return self.graph.mil_constant(value) if isinstance(value, Constant) else value

    def _operation(self, operation: Operation) -> None:
        translator = self.registry.get(operation.kind)
        if translator is None:
            raise UnsupportedOpError(
                f"{self.program.name}: operation {operation.name!r} is of kind {operation.kind}, "
                f"which is not supported; supported are {', '.join(sorted(self.registry))}"
            )
        outputs = (replace(output, type=output.type.known) for output in operation.outputs)
        operation = replace(operation, outputs=tuple(outputs))
        call = Call(self.graph, operation, self.values, self.program.name)
        try:
            result = translator(call)
            self._store(operation, (result,) if isinstance(result, Tensor) else result)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ModelFormatError(
                f"{self.program.name}: operation {operation.name!r} ({operation.kind}) is "
                f"malformed: {error}"
            ) from error
        if unasked := call.unasked():
            raise call.unsupported(f"unknown parameters {', '.join(unasked)}")

    def _store(self, operation: Operation, results: Sequence[Tensor]) -> None:
        for output, result in zip(operation.outputs, results, strict=True):
            tensor = self.graph.cast(result, self.graph.computed(output.type.dtype))
            if self.round_fp16 and output.type.dtype == "fp16":
                tensor = self.graph.cast(self.graph.cast(tensor, "fp16"), tensor.dtype)
            self.values[output.name] = Tensor(
                tensor.name, tensor.dtype, output.type.shape, tensor.constant
            )


def _value_info(name: str, feature: Feature) -> onnx.ValueInfoProto:
    dims = [f"{name}_{axis}" if size is None else size for axis, size in enumerate(feature.shape)]
    return helper.make_tensor_value_info(name, ONNX_DTYPES[feature.dtype], dims)
