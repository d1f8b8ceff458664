"""An ONNX graph under construction: typed tensors, nodes and initialisers."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from twinvox.mil.program import Constant, Shape, TensorType
from twinvox.mil.weights import NUMPY_DTYPES, SUB_BYTE_BITS, Blob

OPSET = 20
MICROSOFT = "com.microsoft"
_IR_VERSION = 9
_INLINE_BYTES = 1024

ONNX_DTYPES = {
    "fp16": TensorProto.FLOAT16,
    "fp32": TensorProto.FLOAT,
    "fp64": TensorProto.DOUBLE,
    "int8": TensorProto.INT8,
    "int16": TensorProto.INT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8,
    "uint16": TensorProto.UINT16,
    "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64,
    "bool": TensorProto.BOOL,
}
_NARROW_INTEGERS = ("int8", "int16", "uint8", "uint16", "uint32")


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of the ONNX graph. ``shape`` is None where nobody needed it; ``constant`` is the
    MIL constant behind it, where there is one."""

    name: str
    dtype: str
    shape: Shape | None = None
    constant: Constant | None = None

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def dims(self) -> Shape:
        """The shape, where the caller knows that there is one."""
        if self.shape is None:
            raise LookupError(f"the shape of {self.name} is not known")
        return self.shape


@dataclass(frozen=True, eq=False)
class Node:
    op_type: str
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    domain: str


class Graph:
    """Collects nodes. ``promote`` computes fp16 values in fp32; ``external`` leaves large blobs
    in their weight file; ``quantize`` computes products with constant matrices in int8."""

    def __init__(
        self, *, promote: bool = True, external: bool = True, quantize: bool = False
    ) -> None:
        self.promote = promote
        self.external = external
        self.quantize = quantize
        self._nodes: list[Node] = []
        self._producers: dict[str, Node] = {}
        self._initializers: dict[str, TensorProto] = {}
        self._inline: dict[tuple[str, tuple[int, ...], bytes], Tensor] = {}
        self._constants: dict[tuple[int, bool], Tensor] = {}
        self._derived: dict[tuple[int, Hashable], tuple[Tensor, ...]] = {}
        self._kept: list[Constant] = []  # whose ids are keys above
        self._count = 0

    def computed(self, dtype: str) -> str:
        """The dtype in which values of MIL dtype ``dtype`` are computed."""
        if dtype in _NARROW_INTEGERS:
            return "int32"
        return "fp32" if self.promote and dtype == "fp16" else dtype

    def node(
        self,
        op_type: str,
        *inputs: Tensor | None,
        dtype: str | None = None,
        shape: Shape | None = None,
        domain: str = "",
        **attributes: Any,
    ) -> Tensor:
        """Append a node with one output; ``dtype`` defaults to the first input's. Attributes that
        are None are left out, and so are trailing inputs that are None."""
        return self.nodes(
            op_type, *inputs, outputs=1, dtype=dtype, shape=shape, domain=domain, **attributes
        )[0]

    def nodes(
        self,
        op_type: str,
        *inputs: Tensor | None,
        outputs: int,
        dtype: str | None = None,
        shape: Shape | None = None,
        domain: str = "",
        **attributes: Any,
    ) -> tuple[Tensor, ...]:
        """Append a node with several outputs of one dtype."""
        while inputs and inputs[-1] is None:
            inputs = inputs[:-1]
        if dtype is None:
            dtype = next(tensor.dtype for tensor in inputs if tensor is not None)
        names = tuple(self._fresh(op_type) for _ in range(outputs))
        kept = {key: value for key, value in attributes.items() if value is not None}
        node = Node(op_type, inputs, names, kept, domain)
        self._nodes.append(node)
        self._producers.update(dict.fromkeys(names, node))
        return tuple(Tensor(name, dtype, shape) for name in names)

    def producer(self, tensor: Tensor) -> Node | None:
        return self._producers.get(tensor.name)

    def constant(self, values: Any, dtype: str) -> Tensor:
        """Values known now, stored in the graph; equal ones share one initialiser."""
        array = np.ascontiguousarray(np.asarray(values, dtype=NUMPY_DTYPES[dtype]))
        array = array.reshape(np.shape(values))
        key = (dtype, array.shape, array.tobytes())
        if key not in self._inline:
            name = self._fresh("const")
            self._initializers[name] = helper.make_tensor(
                name, ONNX_DTYPES[dtype], array.shape, key[2], raw=True
            )
            constant = Constant(TensorType(dtype, array.shape), array)
            self._inline[key] = Tensor(name, dtype, array.shape, constant)
        return self._inline[key]

    def ints(self, values: Iterable[int]) -> Tensor:
        """A vector of int64, as ONNX wants shapes, axes and the like."""
        return self.constant([int(value) for value in values], "int64")

    def mil_constant(self, constant: Constant, *, raw: bool = False) -> Tensor:
        """A MIL constant in its computed dtype, or as it is stored where ``raw`` is set."""
        key = (id(constant), raw)
        if key not in self._constants:
            self._kept.append(constant)
            self._constants[key] = self._emit_constant(constant, raw)
        return self._constants[key]

    def derived(
        self, constant: Constant, way: Hashable, make: Callable[[], tuple[Tensor, ...]]
    ) -> tuple[Tensor, ...]:
        """What ``make`` computes from ``constant``, once for each ``way``: unrolled loops use a
        weight many times."""
        key = (id(constant), way)
        if key not in self._derived:
            self._kept.append(constant)
            self._derived[key] = make()
        return self._derived[key]

    def _emit_constant(self, constant: Constant, raw: bool) -> Tensor:
        stored = constant.type.dtype
        if stored in SUB_BYTE_BITS:
            stored = "uint8" if stored.startswith("u") else "int8"
        dtype = stored if raw else self.computed(stored)
        blob = constant.data
        in_place = self.external and stored == constant.type.dtype
        if isinstance(blob, Blob) and in_place and blob.nbytes > _INLINE_BYTES:
            tensor = Tensor(self._fresh("weight"), stored, constant.shape)
            self._initializers[tensor.name] = _external(tensor, constant.shape, blob)
        else:
            small = constant.array.nbytes <= _INLINE_BYTES
            tensor = self.constant(constant.array, dtype if small else stored)
        if tensor.dtype != dtype:
            tensor = self.cast(tensor, dtype)
        return replace(tensor, shape=constant.shape, constant=constant)

    def cast(self, tensor: Tensor, dtype: str) -> Tensor:
        if tensor.dtype == dtype:
            return tensor
        return self.node("Cast", tensor, dtype=dtype, shape=tensor.shape, to=ONNX_DTYPES[dtype])

    def where(self, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """``a`` where ``condition`` holds and ``b`` elsewhere."""
        if a.dtype == "bool":  # onnxruntime chooses between no booleans
            a, b = self.cast(a, "uint8"), self.cast(b, "uint8")
            return self.cast(self.node("Where", condition, a, b, dtype="uint8"), "bool")
        return self.node("Where", condition, a, b, dtype=a.dtype)

    def int64(self, tensor: Tensor) -> Tensor:
        """``tensor`` as int64, folded now where it is constant."""
        if tensor.constant is not None:
            return self.constant(tensor.constant.array, "int64")
        return self.cast(tensor, "int64")

    def scalar(self, value: float, like: Tensor) -> Tensor:
        """A rank 0 constant with the dtype of ``like``."""
        return self.constant(value, like.dtype)

    def _fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem}/{self._count}"  # MIL names hold no slash

    def model(
        self,
        name: str,
        inputs: Sequence[onnx.ValueInfoProto],
        outputs: Sequence[onnx.ValueInfoProto],
        renamed: dict[str, str],
    ) -> onnx.ModelProto:
        """The finished model, its tensors renamed as told; what no output needs is left out."""
        names = {new: old for old, new in renamed.items()}
        needed = {names.get(output.name, output.name) for output in outputs}
        kept: list[Node] = []
        for node in reversed(self._nodes):
            if needed.intersection(node.outputs):
                kept.append(node)
                needed.update(tensor.name for tensor in node.inputs if tensor is not None)
        kept.reverse()
        graph = helper.make_graph(
            [_node_proto(node, renamed) for node in kept],
            name,
            inputs,
            outputs,
            [proto for key, proto in self._initializers.items() if key in needed],
        )
        return helper.make_model(
            graph,
            ir_version=_IR_VERSION,
            producer_name="twinvox",
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)],
        )


def _external(tensor: Tensor, dims: tuple[int, ...], blob: Blob) -> TensorProto:
    proto = TensorProto(
        name=tensor.name,
        data_type=ONNX_DTYPES[tensor.dtype],
        dims=dims,
        data_location=TensorProto.EXTERNAL,
    )
    for key, value in (
        ("location", blob.file.path.name),
        ("offset", blob.offset),
        ("length", blob.nbytes),
    ):
        proto.external_data.add(key=key, value=str(value))
    return proto


def _node_proto(node: Node, renamed: dict[str, str]) -> onnx.NodeProto:
    proto = onnx.NodeProto(
        op_type=node.op_type,
        input=["" if t is None else renamed.get(t.name, t.name) for t in node.inputs],
        output=[renamed.get(name, name) for name in node.outputs],
        domain=node.domain,
        name=node.outputs[0],
    )
    proto.attribute.extend(
        helper.make_attribute(key, value) for key, value in sorted(node.attributes.items())
    )
    return proto
