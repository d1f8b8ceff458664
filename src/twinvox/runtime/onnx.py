"""ML Programs on ONNX Runtime: translated once, cached, run with the weights where they are."""

import functools
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import twinvox.mil
from twinvox.errors import ModelFormatError
from twinvox.mil.layout import model_files
from twinvox.runtime.base import Array, TensorSpec
from twinvox.runtime.cache import cached, content_key

_TELEMETRY = "ORT_DISABLE_TELEMETRY"  # read when onnxruntime is imported

if _TELEMETRY in os.environ:
    import onnxruntime
else:  # official builds write an identifier of the device into the user's home, and send events
    os.environ[_TELEMETRY] = "1"
    try:
        import onnxruntime
    finally:
        del os.environ[_TELEMETRY]

_LIMITS_KEY = "twinvox.limits"
_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(int8)": np.int8,
    "tensor(int16)": np.int16,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(uint8)": np.uint8,
    "tensor(uint16)": np.uint16,
    "tensor(uint32)": np.uint32,
    "tensor(uint64)": np.uint64,
    "tensor(bool)": np.bool_,
}


class OnnxSession:
    """One model on ONNX Runtime's CPU provider; see ``runtime.base.Session``."""

    def __init__(self, model: Path, *, threads: int, precision: str = "fp32") -> None:
        program, weights = model_files(model)
        key = content_key([program, *weights], _translator_revision(), precision)
        graph = cached(key, lambda: _translate(model, precision))
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Threads that wait sleep: spinning, they take the processor from the next stage's threads
        # and from the program that this one is part of.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        mapped = _point_to_weights(options, weights)
        try:
            self._session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises its own unexported classes
            raise ModelFormatError(f"onnxruntime cannot load {model}: {error}") from error
        del mapped
        limits = json.loads(self._session.get_modelmeta().custom_metadata_map[_LIMITS_KEY])
        self._inputs = {
            node.name: TensorSpec(
                node.name,
                _dimensions(node.shape),
                np.dtype(_DTYPES[node.type]),
                **limits[node.name],
            )
            for node in self._session.get_inputs()
        }
        self._outputs = {
            node.name: TensorSpec(node.name, _dimensions(node.shape), np.dtype(_DTYPES[node.type]))
            for node in self._session.get_outputs()
        }

    @property
    def inputs(self) -> Mapping[str, TensorSpec]:
        return self._inputs

    @property
    def outputs(self) -> Mapping[str, TensorSpec]:
        return self._outputs

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        results = self._session.run(None, dict(inputs))
        return dict(zip(self._outputs, results, strict=True))

    def bind(
        self, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
    ) -> Callable[[], Mapping[str, Array]]:
        binding = self._session.io_binding()
        for name, array in inputs.items():
            binding.bind_input(name, "cpu", 0, *_buffer(name, array, self._inputs))
        for name, array in outputs.items():
            if not array.flags.writeable:
                raise ValueError(f"{name} is written to; the array bound to it is read-only")
            binding.bind_output(name, "cpu", 0, *_buffer(name, array, self._outputs))
        unbound = (self._inputs.keys() - inputs.keys()) | (self._outputs.keys() - outputs.keys())
        if unbound:
            raise ValueError(f"no buffer is bound to {', '.join(sorted(unbound))}")
        owned = (dict(inputs), dict(outputs))

        def predict() -> Mapping[str, Array]:
            self._session.run_with_iobinding(binding)
            return owned[1]

        return predict


def _point_to_weights(options: onnxruntime.SessionOptions, files: list[Path]) -> list[Array]:
    """Returns what must live until the session is made."""
    mapped: list[Array] = []
    if any(path.is_symlink() for path in files):
        # onnxruntime refuses linked files, which is how a hub's cache holds them.
        mapped = [np.memmap(path, np.uint8, "r") for path in files]
        options.add_external_initializers_from_files_in_memory(
            [path.name for path in files], mapped, [buffer.nbytes for buffer in mapped]
        )
    elif files:
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(files[0].parent.resolve())
        )
    return mapped


def _buffer(
    name: str, array: Array, specs: Mapping[str, TensorSpec]
) -> tuple[type[np.generic], tuple[int, ...], int]:
    spec = specs.get(name)
    if spec is None:
        raise ValueError(f"the model has no {name}; it has {', '.join(specs)}")
    if array.dtype != spec.dtype or not spec.admits(array.shape) or not array.flags.c_contiguous:
        raise ValueError(
            f"{name} is bound to {array.dtype} {list(array.shape)}; expected C-contiguous {spec}"
        )
    return array.dtype.type, array.shape, array.ctypes.data


def _dimensions(shape: list[int | str | None]) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in shape)


@functools.cache
def _translator_revision() -> str:
    """Changes with the translator's source, so that no cached graph outlives it."""
    folder = Path(twinvox.mil.__path__[0])
    return content_key([Path(__file__), *sorted(folder.rglob("*.py"))])


def _translate(model: Path, precision: str) -> bytes:
    from twinvox.mil.translate import to_onnx

    program = twinvox.mil.read_program(model)
    graph = to_onnx(program, precision=precision)
    entry = graph.metadata_props.add()
    entry.key = _LIMITS_KEY
    entry.value = json.dumps(
        {
            feature.name: {"shapes": feature.enumerated_shapes, "ranges": feature.ranges}
            for feature in program.features_in
        }
    )
    return bytes(graph.SerializeToString())
