"""Core ML as its public reference describes it, with models that are computed in Python."""

import ctypes
import dataclasses
import importlib.machinery
import importlib.util
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from twinvox.errors import TwinvoxError

Array = npt.NDArray[Any]

USE, IGNORE, REJECT, USE_ONE, RAISE = range(5)
ERROR, EXCEPTION, THROWN_STRING, SILENT_ERROR = range(1, 5)
PADDED, CONTIGUOUS, REVERSED, MOVING = range(4)

MULTI_ARRAY = 5
_UNSPECIFIED, _ENUMERATED, _RANGE = 1, 2, 3
_DTYPES = {"float16": 65552, "float32": 65568, "float64": 65600, "int32": 131104}
_NAMES = {code: name for name, code in _DTYPES.items()}
_MAX_RANK = 8


@dataclasses.dataclass(frozen=True)
class Feature:
    """What a model declares; ``ranges`` are the lowest and highest size, None: no limit."""

    name: str
    shape: Sequence[int]
    dtype: str = "float32"
    shapes: Sequence[Sequence[int]] = ()
    ranges: Sequence[tuple[int, int | None]] = ()
    type: int = MULTI_ARRAY


@dataclasses.dataclass(frozen=True)
class Toy:
    """A model: ``compute`` takes and returns arrays by name; None makes the prediction fail."""

    inputs: Sequence[Feature]
    outputs: Sequence[Feature]
    compute: Callable[[Mapping[str, Array]], Mapping[str, Array] | None]


class State(ctypes.Structure):
    """``fake_state`` of fake.h."""

    _fields_: ClassVar = [
        *((name, ctypes.c_int) for name in ("backings", "layout")),
        *((name, ctypes.c_int) for name in ("compile_fault", "load_fault", "predict_fault")),
        *((name, ctypes.c_int) for name in ("hold", "omit_output", "late_reads")),
        *((name, ctypes.c_long) for name in ("predictions", "offers", "overlaps")),
        *((name, ctypes.c_long) for name in ("starved", "changed", "compilations")),
        ("compute_units", ctypes.c_int),
    ]


class _Tensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_long),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.c_ssize_t * _MAX_RANK),
        ("strides", ctypes.c_ssize_t * _MAX_RANK),
        ("data", ctypes.c_void_p),
    ]

    def view(self) -> Array:
        shape, strides = self.shape[: self.rank], self.strides[: self.rank]
        dtype = np.dtype(_NAMES[self.dtype])
        span = dtype.itemsize + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        memory = (ctypes.c_char * span).from_address(self.data)
        return np.ndarray(shape, dtype, memory, strides=strides)


_Load = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_Compute = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_Tensor), ctypes.c_size_t, ctypes.c_void_p
)


class FakeCoreML:
    """The bridge, built against the fake: ``module`` is what a Mac has as its native module.

    ``open`` makes a model of a toy; any other .mlmodelc has to come from the fake's own compiler,
    and its package then runs on ONNX Runtime. ``loaded`` holds what was opened, by its path.
    """

    def __init__(self, extension: Path) -> None:
        name = "twinvox._native.coreml"
        loader = importlib.machinery.ExtensionFileLoader(name, str(extension))
        spec = importlib.util.spec_from_file_location(name, extension, loader=loader)
        self.module: ModuleType = importlib.util.module_from_spec(spec)
        loader.exec_module(self.module)
        self._library = ctypes.CDLL(str(extension))
        self._library.fake_live.restype = ctypes.c_long
        self._callbacks = _Load(self._load), _Compute(self._compute)
        self._library.fake_install(*self._callbacks)
        self.state = State.in_dll(self._library, "fake_coreml")
        self._toys: dict[str, Toy] = {}
        self.loaded: dict[str, Toy] = {}

    def reset(self) -> None:
        self._toys.clear()
        self.loaded.clear()
        ctypes.memset(ctypes.addressof(self.state), 0, ctypes.sizeof(self.state))

    def live(self) -> int:
        """Objects of Core ML's classes that have not been released."""
        return int(self._library.fake_live())

    def open(self, toy: Toy, path: str = "toy.mlmodelc", compute_units: str = "all") -> Any:
        full = str(Path(path).resolve())
        self._toys[full] = toy
        return self.module.Model(full, compute_units)

    def _load(self, path: bytes, sink: int) -> int:
        name = path.decode()
        try:
            toy = self._toys.get(name) or _of_package(Path(name))
        except (OSError, TwinvoxError):
            return 1
        self.loaded[name] = toy
        for is_output, features in enumerate((toy.inputs, toy.outputs)):
            for feature in features:
                self._declare(sink, is_output, feature)
        return 0

    def _declare(self, sink: int, is_output: int, feature: Feature) -> None:
        rank = len(feature.shape)
        kind, limits = _UNSPECIFIED, []
        # Core ML has a fixed shape as the only one of a list.
        shapes = feature.shapes or [feature.shape] * (rank > 0 and not feature.ranges)
        if shapes:
            kind = _ENUMERATED
            limits = [size for shape in shapes for size in (len(shape), *shape)]
        elif feature.ranges:
            kind = _RANGE
            for low, high in feature.ranges:
                limits += [low, 2**63 - 1 - low if high is None else high - low + 1]
        self._library.fake_declare(
            ctypes.c_void_p(sink),
            is_output,
            feature.name.encode(),
            ctypes.c_long(feature.type),
            ctypes.c_long(_DTYPES[feature.dtype]),
            ctypes.c_size_t(rank),
            _sizes(feature.shape),
            ctypes.c_long(kind),
            ctypes.c_size_t(len(shapes) or len(feature.ranges)),
            _sizes(limits),
        )

    def _compute(self, path: bytes, inputs: Any, n: int, sink: int) -> int:
        arrays = {inputs[i].name.decode(): inputs[i].view() for i in range(n)}
        try:
            results = self.loaded[path.decode()].compute(arrays)
        except Exception:
            traceback.print_exc()
            return 1
        if results is None:
            return 1
        for name, result in results.items():
            array = np.ascontiguousarray(result)
            self._library.fake_emit(
                ctypes.c_void_p(sink),
                name.encode(),
                ctypes.c_long(_DTYPES[array.dtype.name]),
                ctypes.c_size_t(array.ndim),
                _sizes(array.shape),
                ctypes.c_void_p(array.ctypes.data),
            )
        return 0


def _sizes(values: Sequence[int]) -> Any:
    return (ctypes.c_ssize_t * max(len(values), 1))(*values)


def _of_package(compiled: Path) -> Toy:
    if any(path.is_symlink() for path in compiled.rglob("*")):
        raise OSError("Core ML is known to stumble over symbolic links")
    if (compiled / "coremldata.bin").read_bytes() != b"compiled":
        raise OSError("not what the fake's compiler writes")
    from twinvox.runtime.onnx import OnnxSession

    session = OnnxSession(compiled / "package.mlpackage", threads=1)

    def features(specs: Any) -> list[Feature]:
        return [
            Feature(spec.name, _declared(spec.shape), spec.dtype.name, spec.shapes, spec.ranges)
            for spec in specs.values()
        ]

    return Toy(features(session.inputs), features(session.outputs), session.run)


def _declared(shape: Sequence[int | None]) -> Sequence[int]:
    """coremltools writes no shape where a size is open."""
    return () if None in shape else shape
