"""Runtimes: Core ML on macOS arm64, ONNX Runtime everywhere else, behind one Session protocol."""

import importlib.util
import os
import platform
from pathlib import Path
from typing import TypedDict

from twinvox.errors import RuntimeUnavailableError
from twinvox.runtime.base import Session
from twinvox.runtime.compute_units import ComputeUnits, check_unit

RUNTIMES = ("auto", "coreml", "onnx")
PRECISIONS = ("fp32", "int8")
MAX_DEFAULT_THREADS = 4
MIN_MACOS = 14  # the wheel's deployment target


class RuntimeOptions(TypedDict, total=False):
    """How models are run: what ``twinvox.load`` takes whatever the model."""

    runtime: str
    threads: int | None
    compute_units: ComputeUnits | None
    precision: str


def choose_runtime(requested: str = "auto") -> tuple[str, str]:
    """The runtime to use and the reason, for ``requested`` one of RUNTIMES.

    Raises ValueError for another name, RuntimeUnavailableError where it cannot be used.
    """
    if requested not in RUNTIMES:
        raise ValueError(f"runtime is {requested!r}; expected one of {', '.join(RUNTIMES)}")
    system = _system()
    obstacle = None if requested == "onnx" else _coreml_obstacle(system)
    if requested == "coreml" and obstacle:
        raise RuntimeUnavailableError(f"{obstacle}; use runtime='onnx' or 'auto'")
    if requested != "onnx" and not obstacle:
        return "coreml", system if requested == "auto" else "asked for"
    missing = [name for name in ("onnxruntime", "onnx") if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeUnavailableError(
            f"runtime onnx needs {' and '.join(missing)}; run: pip install 'twinvox[onnx]'"
        )
    return "onnx", obstacle or "asked for"


def open_session(
    model: Path | str,
    *,
    runtime: str = "auto",
    threads: int | None = None,
    compute_units: str | None = None,
    precision: str = "fp32",
) -> Session:
    """Load the model at ``model``: an .mlpackage or an .mlmodelc.

    ``threads`` is the number of threads of one operator on ONNX Runtime (None means
    ``default_threads()``); Core ML chooses its own. ``compute_units`` is what Core ML may use: all
    (the default), cpu_only, cpu_and_gpu or cpu_and_ne; a ValueError where it is not the runtime.
    ``precision`` "int8" is for ONNX Runtime alone: products with constant matrices are computed in
    int8, which is faster and less exact; such a graph is made once and cached.
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; expected at least 1")
    if compute_units is not None:
        check_unit(compute_units)
    if precision not in PRECISIONS:
        raise ValueError(f"precision is {precision!r}; expected {' or '.join(PRECISIONS)}")
    chosen, reason = choose_runtime(runtime)
    if chosen == "coreml":
        if precision != "fp32":
            raise ValueError(f"precision {precision} is for ONNX Runtime; the runtime is coreml")
        from twinvox.runtime.coreml import CoreMLSession

        return CoreMLSession(Path(model), compute_units=compute_units or "all")
    if compute_units is not None:
        raise ValueError(f"compute_units is for Core ML; the runtime is onnx ({reason})")
    from twinvox.runtime.onnx import OnnxSession

    return OnnxSession(Path(model), threads=threads or default_threads(), precision=precision)


def default_threads() -> int:
    """The physical cores this process may use, at most 4."""
    if not hasattr(os, "sched_getaffinity"):
        return min(os.cpu_count() or 1, MAX_DEFAULT_THREADS)
    cores = {_core_of(cpu) for cpu in os.sched_getaffinity(0)}
    return min(len(cores), MAX_DEFAULT_THREADS)


def _core_of(cpu: int) -> str:
    siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return siblings.read_text()
    except OSError:
        return str(cpu)


def _system() -> str:
    release = platform.mac_ver()[0]
    name = f"macOS {release}" if release else platform.system()
    return f"{name} {platform.machine()}"


def _coreml_obstacle(system: str) -> str | None:
    """Why Core ML cannot be used, or None."""
    release = platform.mac_ver()[0]
    if not release or int(release.split(".")[0]) < MIN_MACOS or platform.machine() != "arm64":
        return f"Core ML needs macOS {MIN_MACOS} or later on arm64; this is {system}"
    if importlib.util.find_spec("twinvox._native.coreml") is None:
        return "this build of twinvox has no Core ML bridge; install the macOS wheel"
    return None
