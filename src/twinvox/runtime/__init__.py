"""Runtimes: Core ML on macOS arm64, ONNX Runtime everywhere else, behind one Session protocol."""

import importlib.util
import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path

from twinvox.errors import RuntimeUnavailableError
from twinvox.runtime.base import Session
from twinvox.runtime.compute_units import ComputeUnits, check_unit, stage_units

RUNTIMES = ("auto", "coreml", "onnx")
MAX_DEFAULT_THREADS = 4
MIN_MACOS = 14  # the wheel's deployment target


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
    model: Path,
    *,
    runtime: str = "auto",
    threads: int | None = None,
    compute_units: str | None = None,
) -> Session:
    """Load the model at ``model``: an .mlpackage, on Core ML also an .mlmodelc.

    ``threads`` is the number of threads of one operator on ONNX Runtime (None means
    ``default_threads()``); Core ML chooses its own. ``compute_units`` is what Core ML may use: all
    (the default), cpu_only, cpu_and_gpu or cpu_and_ne; a ValueError where it is not the runtime.
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; expected at least 1")
    if compute_units is not None:
        check_unit(compute_units)
    chosen, reason = choose_runtime(runtime)
    if chosen == "coreml":
        from twinvox.runtime.coreml import CoreMLSession

        return CoreMLSession(model, compute_units=compute_units or "all")
    if compute_units is not None:
        raise ValueError(f"compute_units is for Core ML; the runtime is onnx ({reason})")
    from twinvox.runtime.onnx import OnnxSession

    return OnnxSession(model, threads=threads or default_threads())


def opener(
    stages: Mapping[Path, str],
    default_units: Mapping[str, str],
    *,
    runtime: str = "auto",
    threads: int | None = None,
    compute_units: ComputeUnits | None = None,
) -> Callable[[Path], Session]:
    """``open_session`` for the models of one backend, each with the compute units of its stage.

    ``stages`` is the stage of each model, ``default_units`` the unit of each stage, which
    ``compute_units`` overrides; see ``stage_units``.
    """
    units: Mapping[str, str] = {}
    if compute_units is not None or choose_runtime(runtime)[0] == "coreml":
        units = stage_units(default_units, compute_units)

    def open_model(path: Path) -> Session:
        return open_session(
            path, runtime=runtime, threads=threads, compute_units=units.get(stages[path])
        )

    return open_model


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
