"""Settle on a Mac what cannot be settled elsewhere: ``make check-macos``.

Runs the C tests on Accelerate and the suite, which asks Core ML for the CPU alone, compares Core ML
with ONNX Runtime stage by stage and in whole sentences for every choice of compute units, and each
function of Accelerate with its double. Whatever fails is in the report too. Writes report.md and
report.json, to be attached to an issue, and fails if anything was wrong.
"""

import os
import platform
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from accelerate import ACCELERATE, build_double, compare_functions
from report import Report
from speech import compare_speech
from stages import OpenCandidate, OpenReference, compare_stages

import twinvox
from twinvox.backends import model_folder
from twinvox.backends.luxtts.folder import open_folder
from twinvox.runtime import default_threads, open_session

ROOT = Path(__file__).parents[2]
OUT = ROOT / "build/check-macos"


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
    report.add_run("suite", [[sys.executable, "-m", "pytest", "-ra", "--color=no", "tests"]])
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TWINVOX_CACHE_DIR"] = cache  # so that opening a model compiles it
        compare(report, on_this_mac())
    report.finish()
    print(f"\n{OUT / 'report.md'}: attach it, and report.json, to an issue")
    return 1 if report.problems else 0


def compare(report: Report, sides: Sides) -> None:
    """Fill the report's tables; what stops one table is a problem and leaves the others."""
    folder = open_folder(model_folder("embedded"), "gpu")
    tables: dict[str, Callable[[Path], Iterable[object]]] = {
        "Accelerate beside its double": lambda scratch: compare_functions(
            sides.accelerate, build_double(scratch)
        ),
        "Stages, Core ML beside ONNX Runtime": lambda _: compare_stages(
            folder, sides.reference, sides.candidate
        ),
        "Speech": lambda _: compare_speech(folder, sides.reference, sides.candidate),
    }
    with tempfile.TemporaryDirectory() as scratch:
        for title, rows in tables.items():
            print(f"== {title}", flush=True)
            try:
                for row in rows(Path(scratch)):
                    report.add_row(title, row)
            except Exception:
                report.add_problem(title, traceback.format_exc())


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
    sys.exit(main())
