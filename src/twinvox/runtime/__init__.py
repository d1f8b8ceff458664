"""Runtimes: Core ML on macOS arm64, ONNX Runtime everywhere else, behind one Session protocol."""

import importlib.util
import os
from pathlib import Path

from twinvox.errors import RuntimeUnavailableError
from twinvox.runtime.base import Session

RUNTIMES = ("auto", "coreml", "onnx")
MAX_DEFAULT_THREADS = 4


def choose_runtime(requested: str = "auto") -> tuple[str, str]:
    """The runtime to use and the reason, for ``requested`` one of RUNTIMES.

    Raises ValueError for another name, RuntimeUnavailableError where it cannot be used.
    """
    if requested not in RUNTIMES:
        raise ValueError(f"runtime is {requested!r}; expected one of {', '.join(RUNTIMES)}")
    if requested == "coreml":
        raise RuntimeUnavailableError(
            "this version of twinvox has no Core ML session yet; use runtime='onnx' or 'auto'"
        )
    missing = [name for name in ("onnxruntime", "onnx") if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeUnavailableError(
            f"runtime onnx needs {' and '.join(missing)}; run: pip install 'twinvox[onnx]'"
        )
    reason = "asked for" if requested == "onnx" else "Core ML sessions are not in this version"
    return "onnx", reason


def open_session(model: Path, *, runtime: str = "auto", threads: int | None = None) -> Session:
    """Load the model at ``model`` (.mlmodelc or .mlpackage).

    ``threads`` is the number of threads of one operator; None means ``default_threads()``.
    """
    choose_runtime(runtime)
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; expected at least 1")
    from twinvox.runtime.onnx import OnnxSession

    return OnnxSession(model, threads=threads or default_threads())


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
