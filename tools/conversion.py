"""From a torch module to an ML Program package with weights in fp16."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import coremltools as ct
import numpy as np
import torch
from coremltools.converters.mil.mil import Operation
from torch import nn

from twinvox.runtime.base import ModelContract

_PRODUCTS = {"conv", "conv_transpose", "linear", "matmul"}
_ANGULAR = {"cos", "cumsum", "sin"}


_Module = TypeVar("_Module", bound=nn.Module)


def seeded(build: Callable[[], _Module], seed: int) -> _Module:
    """A module with random weights that fp16 holds exactly, ready to convert or to compare with.

    What its package computes on ONNX Runtime then differs from the module by arithmetic only.
    """
    torch.manual_seed(seed)
    module = build().eval().requires_grad_(False)
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.is_floating_point():
            tensor.copy_(tensor.half().float())
    return module


class _Angles:
    """The operations that compute a phase or an angle, back to the last product of matrices.

    Those exceed what fp16 resolves: RoPE's angle at row 767 would be 0.09 rad off, and the phase of
    a sine generator overflows.
    """

    def __init__(self) -> None:
        self._found: set[Operation] | None = None

    def outside(self, operation: Operation) -> bool:
        if self._found is None:
            self._found = self._search(list(operation.enclosing_block.operations))
        return operation not in self._found

    @staticmethod
    def _search(operations: list[Operation]) -> set[Operation]:
        found: set[Operation] = set()
        for operation in reversed(operations):
            readers = (op for output in operation.outputs for op in output.child_ops)
            if operation.op_type in _ANGULAR or (
                operation.op_type not in _PRODUCTS and not found.isdisjoint(readers)
            ):
                found.add(operation)
        return found


def convert(module: nn.Module, contract: ModelContract, destination: Path) -> int:
    """Trace ``module``, save it at ``destination``; its number of operations.

    The module takes and returns the contract's tensors in their order. Between them the package
    computes in fp16, angles excepted.
    """
    examples = {
        tensor.name: torch.from_numpy(np.zeros(tensor.shape, tensor.dtype))
        for tensor in contract.inputs
    }
    with torch.no_grad():
        traced = torch.jit.trace(module.eval(), tuple(examples.values()), check_trace=False)
    package = ct.convert(
        traced,
        inputs=[
            ct.TensorType(tensor.name, shape=tensor.shape, dtype=tensor.dtype)
            for tensor in contract.inputs
        ],
        outputs=[ct.TensorType(tensor.name, dtype=tensor.dtype) for tensor in contract.outputs],
        minimum_deployment_target=ct.target.iOS17,
        compute_precision=ct.transform.FP16ComputePrecision(op_selector=_Angles().outside),
        skip_model_load=True,
    )
    shutil.rmtree(destination, ignore_errors=True)
    destination.parent.mkdir(parents=True, exist_ok=True)
    package.save(str(destination))
    (function,) = package.get_spec().mlProgram.functions.values()
    (block,) = function.block_specializations.values()
    return sum(operation.type != "const" for operation in block.operations)
