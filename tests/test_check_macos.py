"""``make check-macos`` with stand-ins for Core ML and Accelerate, so that it works when needed."""

import functools
import json
import pickle
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.fake_coreml import REJECT
from twinvox.runtime import open_session
from twinvox.runtime.compute_units import UNITS

ROOT = Path(__file__).parents[1]
TOOL = ROOT / "tools" / "check_macos"
DOUBLE = ROOT / "tests" / "fake_accelerate"

if not TOOL.exists():
    pytest.skip("the sdist has no tools", allow_module_level=True)


@pytest.fixture
def tool(monkeypatch):
    """The tool's modules by name, with little to say and once."""
    monkeypatch.syspath_prepend(str(TOOL))
    names = ("accelerate", "report", "stages", "speech", "run")
    modules = {name: __import__(name) for name in names}
    for name in ("stages", "speech"):
        monkeypatch.setattr(modules[name], "ROUNDS", 1)
        monkeypatch.setattr(modules[name], "SENTENCE", "Good morning.")
    yield modules
    for name in names:
        del sys.modules[name]


class Faulty:
    """A session that spoils its results, or declines the buffers that it is offered."""

    def __init__(self, session, spoil=0.0, declines=False):
        self.inputs, self.outputs = session.inputs, session.outputs
        self._session, self._spoil, self._declines = session, spoil, declines

    def run(self, inputs):
        results = self._session.run(inputs)
        return {name: array + self._spoil * np.ptp(array) for name, array in results.items()}

    def bind(self, inputs, outputs):
        if self._declines:
            return lambda: self.run(inputs)
        predict = self._session.bind(inputs, outputs)

        def spoilt():
            results = predict()
            for array in results.values():
                array += self._spoil * np.ptp(array)
            return results

        return spoilt


onnx = functools.cache(partial(open_session, runtime="onnx", threads=1))


def compare(tool, tmp_path, candidate, accelerate=None):
    report = tool["report"].Report(tmp_path, {"chip": "none"})
    double = accelerate or tool["accelerate"].build_double(tmp_path)
    sides = tool["run"].Sides(onnx, candidate, double)
    tool["run"].compare(report, partial(tool["run"].rows_of, sides))
    report.finish()
    return report, json.loads((tmp_path / "report.json").read_text())


def test_equal_sides(tool, tmp_path):
    report, written = compare(tool, tmp_path, lambda path, units: onnx(path))
    assert report.problems == []
    assert written["finished"]
    functions, stages, speech = written["tables"].values()
    assert {row["stage"] for row in stages} == {"text_encoder", "flow", "vocoder"}
    assert {row["units"] for row in stages} == {"all", "cpu_only", "cpu_and_gpu", "cpu_and_ne"}
    assert all(row["max_abs"] == 0 and row["backing"] == "used" for row in stages)
    assert all(row["run_ms"] > 0 and row["bound_ms"] > 0 for row in stages)
    assert len(speech) == 6
    assert all(row["snr_db"] is None and row["first_audio_ms"] > 0 for row in speech)
    assert all(row["max_abs"] == 0 and row["same_specials"] for row in functions)
    text = (tmp_path / "report.md").read_text()
    assert "## Speech" in text
    assert "NOT FINISHED" not in text


def test_the_bridge_on_the_fake(tool, core_ml):
    folder = tool["run"].open_folder(tool["run"].model_folder("embedded"), "gpu")
    core_ml.state.backings = REJECT
    candidate = tool["run"].on_this_mac().candidate
    results = [
        result
        for units in UNITS
        for result in tool["stages"].compare_stages(folder, onnx, candidate, units)
    ]
    assert len(results) == 12
    assert all(result.max_abs == 0 and not result.error for result in results)
    assert all(result.backing.startswith("declined: ") for result in results)


def test_wrong_and_failing_units_are_told_apart(tool, tmp_path):
    def candidate(path, units):
        if units == "all":
            raise OSError("no such processor")
        return Faulty(onnx(path), 0.1 if units == "cpu_only" else 0.0, units == "cpu_and_ne")

    report, written = compare(tool, tmp_path, candidate)
    for stage in ("text_encoder", "flow", "vocoder"):
        assert any(line.startswith(f"{stage} on cpu_only: ") for line in report.problems)
        assert f"{stage} on all: OSError: no such processor" in report.problems
        assert not any(line.startswith(f"{stage} on cpu_and") for line in report.problems)
    assert any(line.startswith("speech on cpu_only: ") for line in report.problems)
    stages = written["tables"]["Stages, Core ML beside ONNX Runtime"]
    backings = {(row["units"], row["backing"]) for row in stages}
    assert ("cpu_and_ne", "declined") in backings
    assert ("cpu_and_gpu", "used") in backings


@pytest.mark.parametrize(
    ("old", "new", "function"),
    [
        ("{2.0 * sum.re, 2.0 * sum.im}", "{sum.re, sum.im}", "vDSP_DFT_ExecuteD"),
        ("Oi[0] = bin(setup, h, n / 2).re", "Oi[0] = 0.0", "vDSP_DFT_ExecuteD"),
        ("+ addend", "- addend", "vDSP_vsadd"),
        ("sqrtf(x[i])", "sqrtf(x[i]) * 1.00001f", "vvsqrtf"),
        ("logf(x[i])", "isnan(x[i]) ? 0.0f : logf(x[i])", "vvlogf"),
    ],
)
def test_another_accelerate_is_noticed(tool, tmp_path, monkeypatch, old, new, function):
    double = tool["accelerate"].build_double(tmp_path)
    source = (DOUBLE / "fake_accelerate.c").read_text()
    assert old in source
    changed = tmp_path / "changed"
    (changed / "Accelerate").mkdir(parents=True)
    for name in ("Accelerate/Accelerate.h", "fake_accelerate.h"):
        (changed / name).write_text((DOUBLE / name).read_text())
    (changed / "fake_accelerate.c").write_text(source.replace(old, new))
    monkeypatch.setattr(tool["accelerate"], "DOUBLE", changed)
    other = tool["accelerate"].build_double(changed)
    results = list(tool["accelerate"].compare_functions(other, double))
    assert {result.function for result in results if result.problem} == {function}


def test_every_function_declared_is_compared(tool, tmp_path):
    stub = (ROOT / "tests/stub_sdk/Accelerate.framework/Accelerate.tbd").read_text()
    double = tool["accelerate"].build_double(tmp_path)
    compared = {result.function for result in tool["accelerate"].compare_functions(double, double)}
    declared = set(stub.split("symbols: [")[1].split("]")[0].replace(",", " ").split())
    of_setups = {"_vDSP_DFT_zrop_CreateSetupD", "_vDSP_DFT_DestroySetupD"}
    assert {f"_{function}" for function in compared} == declared - of_setups


def test_what_stops_a_table_leaves_the_others(tool, tmp_path):
    def candidate(path, units):
        raise OSError("no Core ML")

    report, written = compare(tool, tmp_path, candidate, "/no/such/library")
    assert "Accelerate beside its double" in report.problems[0]
    assert set(written["tables"]) == {"Stages, Core ML beside ONNX Runtime", "Speech"}


CRASHING = """
import os, pickle, sys
from accelerate import FunctionResult
_, kept, title, units = sys.argv
with open(kept, "wb") as stream:
    pickle.dump(FunctionResult(units, 1, 0.0, 0.0), stream)
print("no memory object bound to port", file=sys.stderr, flush=True)
if units != "all":
    os.abort()
"""


def test_what_ends_its_process_leaves_the_rows_before_and_the_parts_after(
    tool, tmp_path, monkeypatch
):
    script = tmp_path / "crashing.py"
    script.write_text(CRASHING)
    monkeypatch.setenv("PYTHONPATH", str(TOOL))
    monkeypatch.setattr(tool["run"], "PARTS", {"Stages": ("cpu_only", "all")})
    report = tool["report"].Report(tmp_path, {})
    tool["run"].compare(report, partial(tool["run"].rows_of_child, script=str(script)))
    assert [row.function for row in report.tables["Stages"]] == ["cpu_only", "all"]
    (problem,) = report.problems
    assert problem.startswith("Stages cpu_only: ")
    assert "the process ended with -6\nno memory object bound to port" in problem


def test_a_child_keeps_the_rows_of_its_part(tool, tmp_path, monkeypatch):
    run = tool["run"]
    double = tool["accelerate"].build_double(tmp_path)
    sides = run.Sides(onnx, lambda path, units: onnx(path), double)
    monkeypatch.setattr(run, "on_this_mac", lambda: sides)
    for title in run.PARTS:
        assert run.keep_rows(str(tmp_path / "rows"), title, "cpu_only") == 0
        with (tmp_path / "rows").open("rb") as stream:
            kept = []
            while stream.peek():
                kept.append(pickle.load(stream))
        assert kept
        assert all(row.problem is None for row in kept)


def test_a_run_that_fails_is_reported_with_its_last_words(tool, tmp_path):
    report = tool["report"].Report(tmp_path, {})
    program = "import os, sys; os.write(1, b'half way \\xe2\\x80\\n'); sys.exit(3)"
    fails = [sys.executable, "-c", program]
    never = [sys.executable, "-c", "print('too far')"]
    report.add_run("suite", [fails, never])
    assert report.problems == [f"suite: {sys.executable} exited 3"]
    text = (tmp_path / "report.md").read_text()
    assert "half way" in text
    assert "too far" not in text
    assert "NOT FINISHED" in text


@pytest.mark.skipif(sys.platform == "darwin", reason="it would run")
def test_elsewhere_it_says_that_it_needs_a_mac():
    made = subprocess.run(
        ["make", "check-macos"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 2
    assert "needs a Mac" in made.stderr


@pytest.mark.parametrize(("target", "wanted"), [("say", "3.11 or newer"), ("test", "3.11 to 3.13")])
def test_another_python_is_told_before_anything_is_made(tmp_path, target, wanted):
    """As Apple's is, which is 3.9."""
    for folder in ("csrc", "src"):
        (tmp_path / folder).mkdir()
    for file in ("CMakeLists.txt", "pyproject.toml"):
        (tmp_path / file).touch()
    shutil.copy(ROOT / "Makefile", tmp_path)
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    command = ["make", f"PYTHON={python}", target]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 2
    assert f"Python {wanted} is needed" in made.stderr
    assert not (tmp_path / ".venv").exists()
