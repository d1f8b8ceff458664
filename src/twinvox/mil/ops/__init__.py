"""MIL operators as ONNX nodes: one function for each kind, in modules named as the MIL reference
groups them.

How to add a kind
-----------------
::

    @op("leaky_relu")
    def leaky_relu(call: Call) -> Tensor:
        x = call.tensor("x")
        return call.graph.node("LeakyRelu", x, alpha=call.number("alpha"))

- `Call` is one operation of the program. Its accessors answer by MIL parameter name: `tensor`
  (a Tensor of the graph), `like` (one in the dtype of another), `optional` (that or None),
  `tensors` (a tuple parameter), and for parameters that must be constant `array`, `ints`,
  `integer`, `number`, `flag`, `text`. They take the default that the MIL reference gives;
  without one a missing parameter is an error.
- Every parameter of the operation must be asked for: one left over is reported as unsupported.
  `call.ignore` names those that change nothing here.
- fp16 values arrive in fp32 (unless fp16 was asked for), int8/16 and uint8/16/32 in int32.
  `Tensor.dtype` says which; make constants with `graph.scalar(value, like=x)`.
- Return one Tensor, or a tuple with one for each output. The translator casts it to the dtype that
  the program declares (an int64 index becomes int32) and gives it the declared shape.
- `x.dims` holds None on axes whose size is only known at run time. Ask for `call.static(x)` where
  that cannot be translated; prefer a form that does not need it (-1 in a reshape, a Shape node).
- Raise `call.unsupported(message)` for what cannot be translated.
- Use `reshape`, `transpose` and `product` of `twinvox.mil.rewrite` instead of bare nodes: they
  leave out work that moves nothing.
"""

from collections.abc import Callable, Sequence
from typing import Any

from twinvox.errors import UnsupportedOpError
from twinvox.mil.graph import Graph, Tensor
from twinvox.mil.program import Array, Constant, Operation

Result = Tensor | Sequence[Tensor]
Translator = Callable[["Call"], Result]

REGISTRY: dict[str, Translator] = {}
_REQUIRED: Any = object()


def op(*kinds: str) -> Callable[[Translator], Translator]:
    """Register a function as the translator of these MIL operator kinds."""

    def register(function: Translator) -> Translator:
        for kind in kinds:
            if kind in REGISTRY:
                raise ValueError(f"two translators for {kind}")
            REGISTRY[kind] = function
        return function

    return register


class Call:
    """One operation with its operands resolved: what a translator sees."""

    def __init__(
        self, graph: Graph, operation: Operation, values: dict[str, Tensor | Constant], model: str
    ) -> None:
        self.graph = graph
        self.operation = operation
        self.kind = operation.kind
        self.out = operation.outputs[0].type
        self._values = values
        self._model = model
        self._asked: set[str] = set()

    def unsupported(self, message: str) -> UnsupportedOpError:
        return UnsupportedOpError(
            f"{self._model}: operation {self.operation.name!r} ({self.kind}): {message}"
        )

    def tensors(self, name: str) -> tuple[Tensor, ...]:
        """All operands of a parameter, none where it is missing."""
        self._asked.add(name)
        return tuple(
            self.graph.mil_constant(operand) if isinstance(operand, Constant) else operand
            for operand in self._operands(name)
        )

    def optional(self, name: str) -> Tensor | None:
        found = self.tensors(name)
        return found[0] if found else None

    def tensor(self, name: str) -> Tensor:
        found = self.optional(name)
        if found is None:
            raise self.unsupported(f"parameter {name} is missing")
        return found

    def like(self, name: str, x: Tensor) -> Tensor:
        """An operand in the dtype of ``x``, from which it may differ since iOS 17."""
        return self.graph.cast(self.tensor(name), x.dtype)

    def raw(self, name: str) -> Tensor:
        """A constant operand with the dtype it is stored in (uint8 stays uint8)."""
        return self.graph.mil_constant(self._constant(name, _REQUIRED), raw=True)

    def array(self, name: str, default: Any = _REQUIRED) -> Array:
        constant = self._constant(name, default)
        return constant.array if isinstance(constant, Constant) else constant

    def ints(self, name: str, default: Any = _REQUIRED) -> list[int]:
        value = self.array(name, default)
        return value if value is default else [int(item) for item in value.reshape(-1)]

    def flags(self, name: str, default: Any = _REQUIRED) -> list[bool]:
        value = self.array(name, default)
        return value if value is default else [bool(item) for item in value.reshape(-1)]

    def integer(self, name: str, default: Any = _REQUIRED) -> int:
        return int(self._item(name, default))

    def number(self, name: str, default: Any = _REQUIRED) -> float:
        return float(self._item(name, default))

    def flag(self, name: str, default: Any = _REQUIRED) -> bool:
        return bool(self._item(name, default))

    def text(self, name: str, default: Any = _REQUIRED) -> str:
        return str(self._item(name, default))

    def given(self, name: str) -> bool:
        """Whether the operation has this parameter."""
        return bool(self.operation.inputs.get(name))

    def is_constant(self, name: str) -> bool:
        return self.given(name) and all(
            isinstance(value, Constant) for value in self._operands(name)
        )

    def ignore(self, *names: str) -> None:
        self._asked.update(names)

    def static(self, tensor: Tensor) -> tuple[int, ...]:
        """The shape of ``tensor``, which must be fully known."""
        sizes = tuple(size for size in tensor.dims if size is not None)
        if len(sizes) != tensor.rank:
            raise self.unsupported(f"needs a fixed shape, got {tensor.dims}")
        return sizes

    def unasked(self) -> list[str]:
        return sorted(set(self.operation.inputs) - self._asked)

    def _operands(self, name: str) -> list[Tensor | Constant]:
        found: list[Tensor | Constant] = []
        for operand in self.operation.inputs.get(name, ()):
            if isinstance(operand, Constant):
                found.append(operand)
            elif operand in self._values:
                found.append(self._values[operand])
            else:
                raise self.unsupported(f"{name} refers to {operand!r}, which is not defined yet")
        return found

    def _constant(self, name: str, default: Any) -> Any:
        self._asked.add(name)
        operands = self._operands(name)
        if not operands:
            if default is _REQUIRED:
                raise self.unsupported(f"parameter {name} is missing")
            return default
        operand = operands[0]
        if isinstance(operand, Tensor):
            if operand.constant is None:
                raise self.unsupported(f"parameter {name} must be a constant")
            return operand.constant
        return operand

    def _item(self, name: str, default: Any) -> Any:
        value = self.array(name, default)
        if value is default:
            return value
        if value.size != 1:
            raise self.unsupported(f"parameter {name} must be a scalar")
        return value.reshape(-1)[0]


def load() -> dict[str, Translator]:
    """The registry with every operator module in it."""
    from twinvox.mil.ops import (  # noqa: F401
        activation,
        constexpr,
        control_flow,
        conv,
        elementwise_binary,
        elementwise_unary,
        image_resizing,
        linear,
        normalization,
        pool,
        recurrent,
        reduction,
        scatter_gather,
        slicing,
        tensor_operation,
        tensor_transformation,
    )

    return REGISTRY
