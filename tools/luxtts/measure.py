"""Times a step of a full-size FmDecoder of ``random_models`` on ONNX Runtime beside torch.

    python -m tools.luxtts.measure DIR [--rounds 7]

The ways take turns in one process, one thread each, so that each meets the same machine. Errors are
those of the frames that are spoken, relative to the range of torch's values. A Markdown table goes
to stdout, then the same as JSON.
"""

import argparse
import collections
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch

import twinvox.mil
from twinvox.backends.luxtts.contract import CONTRACT
from twinvox.mil.translate import to_onnx
from twinvox.runtime import PRECISIONS, open_session

from .random_models import PACKAGE, build

Arrays = dict[str, np.ndarray]
Results = dict[str, Any]

_PROMPT_FRAMES, _SPOKEN_FRAMES = 406, 838  # of the reference run, of 1024
_PROFILED_RUNS = 5


def example() -> Arrays:
    """Inputs of a step as a synthesis would fill them, full of noise."""
    rng = np.random.default_rng(0)
    frames = CONTRACT.frame_buckets[-1]

    def rows(filled: int) -> np.ndarray:
        values = rng.standard_normal((1, frames, CONTRACT.n_mels), np.float32)
        values[:, filled:] = 0
        return values

    padding = np.zeros((1, frames), np.float32)
    padding[:, _SPOKEN_FRAMES:] = 1
    return {
        "x": rows(_SPOKEN_FRAMES),
        "text_condition": rows(_SPOKEN_FRAMES),
        "speech_condition": rows(_PROMPT_FRAMES),
        "t": np.array([1 / 3], np.float32),
        "guidance_scale": np.array([CONTRACT.guidance_scale], np.float32),
        "padding_mask": padding,
    }


def measure(package: Path, rounds: int) -> Results:
    """Median milliseconds of a step and its errors, each way."""
    inputs = example()
    ways: dict[str, Callable[[], np.ndarray]] = {"torch eager": _torch_step(inputs)}
    for precision in PRECISIONS:
        session = open_session(package, threads=1, precision=precision)
        ways[precision] = partial(_run, session.run, inputs)
    spoken = {way: step()[:, :_SPOKEN_FRAMES] for way, step in ways.items()}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, step in ways.items():
            start = time.perf_counter()
            step()
            seconds[way].append(time.perf_counter() - start)
    wanted = spoken["torch eager"]
    return {
        way: {
            "milliseconds": 1e3 * statistics.median(seconds[way]),
            "largest_error": float(np.abs(got - wanted).max() / np.ptp(wanted)),
            "rms_error": float(np.sqrt(np.square(got - wanted).mean()) / np.ptp(wanted)),
        }
        for way, got in spoken.items()
    }


def _torch_step(inputs: Arrays) -> Callable[[], np.ndarray]:
    decoder = build()
    tensors = [torch.from_numpy(array) for array in inputs.values()]

    def step() -> np.ndarray:
        with torch.inference_mode():
            return decoder(*tensors).numpy()

    return step


def _run(run: Callable[[Arrays], Arrays], inputs: Arrays) -> np.ndarray:
    return run(inputs)["v"]


def profile(package: Path, precision: str) -> Results:
    """Milliseconds of a step by operator, most first: of each node the median of some runs."""
    program = twinvox.mil.read_program(package)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(program.weights_folder)
    )
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = f"{folder}/profile"
        graph = to_onnx(program, precision=precision).SerializeToString()
        session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        for _ in range(_PROFILED_RUNS):
            session.run(None, example())
        events = json.loads(Path(session.end_profiling()).read_bytes())
    nodes: dict[tuple[str, str], list[int]] = collections.defaultdict(list)
    for event in events:
        if event["name"].endswith("_kernel_time"):
            nodes[event["name"], event["args"]["op_name"]].append(event["dur"])
    spent: dict[str, float] = collections.defaultdict(float)
    for (_, kind), microseconds in nodes.items():
        spent[kind] += statistics.median(microseconds) / 1e3
    return dict(sorted(spent.items(), key=lambda item: -item[1]))


def _table(results: Results) -> list[str]:
    steps, eager = results["step"], results["step"]["torch eager"]["milliseconds"]
    rows = ["| step | ms | of torch eager | largest error | rms error |", "|---|---|---|---|---|"]
    rows += [
        f"| {way} | {run['milliseconds']:.0f} | {run['milliseconds'] / eager:.2f} | "
        f"{run['largest_error']:.1e} | {run['rms_error']:.1e} |"
        for way, run in steps.items()
    ]
    for precision, spent in results["profile"].items():
        rows += ["", f"| operator, {precision} | ms a step |", "|---|---|"]
        rows += [f"| {kind} | {milliseconds:.1f} |" for kind, milliseconds in spent.items()]
    return [*rows, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    package = arguments.folder.resolve() / PACKAGE
    torch.set_num_threads(1)
    results = {
        "step": measure(package, arguments.rounds),
        "profile": {precision: profile(package, precision) for precision in PRECISIONS},
    }
    print(*_table(results), json.dumps(results, indent=1), sep="\n")


if __name__ == "__main__":
    main()
