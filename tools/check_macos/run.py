"""Settle on a Mac what cannot be settled elsewhere: ``make check-macos``.

Runs the C tests on Accelerate and the suite, which asks Core ML for the CPU alone, compares Core ML
with ONNX Runtime stage by stage and in whole sentences for every choice of compute units, and each
function of Accelerate with its double. Whatever fails is in the report too: what Core ML may end
runs in a process of its own. Writes report.md and report.json, to be attached to an issue, and
fails if anything was wrong.
"""

import os
import pickle
import platform
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelerate import ACCELERATE, build_double, compare_functions
from report import TAIL, Report
from speech import CHOICES, compare_speech
from stages import OpenCandidate, OpenReference, compare_stages

import twinvox
from twinvox.backends import model_folder
from twinvox.backends.luxtts.folder import open_folder
from twinvox.runtime import default_threads, open_session
from twinvox.runtime.compute_units import UNITS

ROOT = Path(__file__).parents[2]
OUT = ROOT / "build/check-macos"
ON_CORE_ML = "tests/backends/test_on_coreml.py"
FUNCTIONS = "Accelerate beside its double"
STAGES = "Stages, Core ML beside ONNX Runtime"
SPEECH = "Speech"
PARTS = {FUNCTIONS: ("",), STAGES: UNITS, SPEECH: CHOICES}
PART_S = 1800  # a processor that hangs

Rows = Callable[[str, str], Iterator[Any]]


@dataclass(frozen=True)
class Sides:
    """What is compared: sessions, and the library that stands for Accelerate."""

    reference: OpenReference
    candidate: OpenCandidate
    accelerate: Path | str


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    report = Report(OUT, machine())
    report.add_run("C tests", c_tests(OUT / "csrc"))
    suite = [sys.executable, "-m", "pytest", "-ra", "--color=no"]
    report.add_run("suite", [[*suite, "tests", f"--ignore={ON_CORE_ML}"]])
    report.add_run("suite on Core ML", [[*suite, "-v", ON_CORE_ML]])
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TWINVOX_CACHE_DIR"] = cache  # so that opening a model compiles it
        compare(report, rows_of_child)
    report.finish()
    print(f"\n{OUT / 'report.md'}: attach it, and report.json, to an issue")
    return 1 if report.problems else 0


def compare(report: Report, rows: Rows) -> None:
    """Fill the report's tables; what stops one part is a problem and leaves the others."""
    for title, choices in PARTS.items():
        print(f"== {title}", flush=True)
        for units in choices:
            try:
                for row in rows(title, units):
                    report.add_row(title, row)
            except Exception:
                report.add_problem(f"{title} {units}", traceback.format_exc())


def rows_of(sides: Sides, title: str, units: str) -> Iterator[Any]:
    """The rows of one part."""
    folder = open_folder(model_folder("embedded"), "gpu")
    if title == STAGES:
        yield from compare_stages(folder, sides.reference, sides.candidate, units)
    elif title == SPEECH:
        yield compare_speech(folder, sides.reference, sides.candidate, units)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            yield from compare_functions(sides.accelerate, build_double(Path(scratch)))


def rows_of_child(title: str, units: str, script: str = __file__) -> Iterator[Any]:
    """The rows of one part on this Mac, from a process that may crash after some of them."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "rows"
        kept.touch()
        command = [sys.executable, script, str(kept), title, units]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PART_S
        )
        with kept.open("rb") as stream:
            while stream.peek():
                yield pickle.load(stream)
    if done.returncode:
        said = done.stdout.decode(errors="replace").splitlines()[-TAIL:]
        raise RuntimeError("\n".join([f"the process ended with {done.returncode}", *said]))


def keep_rows(kept: str, title: str, units: str) -> int:
    """What such a process does."""
    with Path(kept).open("wb") as stream:
        for row in rows_of(on_this_mac(), title, units):
            pickle.dump(row, stream)
            stream.flush()
    return 0


def on_this_mac() -> Sides:
    threads = default_threads()
    return Sides(
        lambda path: open_session(path, runtime="onnx", threads=threads),
        lambda path, units: open_session(path, runtime="coreml", compute_units=units),
        ACCELERATE,
    )


def machine() -> dict[str, str]:
    """What a reader of the report has to know of this Mac and this build."""
    return {
        "chip": _said("sysctl", "-n", "machdep.cpu.brand_string"),
        "macOS": platform.mac_ver()[0],
        "Python": platform.python_version(),
        "twinvox": twinvox.__version__,
        "commit": _said("git", "-C", str(ROOT), "describe", "--always", "--dirty"),
        "info": _said(sys.executable, "-m", "twinvox", "info"),
    }


def c_tests(build: Path) -> list[list[str]]:
    tools = Path(sys.executable).parent
    return [
        [f"{tools}/cmake", "-S", str(ROOT), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release"],
        [f"{tools}/cmake", "--build", str(build)],
        [f"{tools}/ctest", "--test-dir", str(build), "--output-on-failure"],
    ]


def _said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(keep_rows(*sys.argv[1:]) if sys.argv[1:] else main())
