"""Plants one fault after another in the bridge and names the test that notices each.

    python -m tests.fake_coreml.mutants [NAME …]

Exits with 1 where a fault goes unnoticed.
"""
# ruff: noqa: E501 -- the table is read by its lines

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.fake_coreml.build import BUILT, ROOT

TESTS = [
    *(f"tests/native/test_coreml{part}.py" for part in ("", "_failures", "_load")),
    "tests/runtime/test_compiled.py",
]
TIMEOUT_S = 120

MODEL = "csrc/coreml.m"
DESCRIBE = "csrc/coreml_describe.m"
PREDICT = "csrc/coreml_predict.m"
PYX = "src/twinvox/_native/coreml.pyx"
PXI = "src/twinvox/_native/coreml.pxi"
COMPILED = "src/twinvox/runtime/compiled.py"


class Fault(NamedTuple):
    """``old``, which ``file`` holds once, or last of several, gives way to ``new``."""

    name: str
    file: str
    old: str
    new: str


CATCHES = """        } @catch (NSException *thrown) {
            status = coreml_raised(failure, thrown);
        } @catch (...) {
            status = coreml_raised(failure, nil);
        }
"""
IDENTITY = "if (array == [binding->backings objectAtIndex:i]) {"
RELEASE_OFFER = """        [binding->offering release];
        binding->offering = nil;
    }
    return found;"""
RAISED = """    } @catch (NSException *thrown) {
        coreml_raised(refusal, thrown);
    } @catch (...) {
        coreml_raised(refusal, nil);
    }
    return nil;"""

FAULTS = [
    Fault("result strides ignored", PXI, "self.array.shape, self.array.strides", "self.array.shape, NULL"),
    Fault("strides taken as bytes", PREDICT, "(ptrdiff_t)coreml_itemsize(out->dtype), out->strides", "1, out->strides"),
    Fault("strides read before the pointer", PREDICT, "    out->data = [object dataPointer]; /* before the strides: it may move the array */\n    coreml_read_numbers([object shape], 1, out->shape);\n    coreml_read_numbers([object strides], (ptrdiff_t)coreml_itemsize(out->dtype), out->strides);\n", "    coreml_read_numbers([object shape], 1, out->shape);\n    coreml_read_numbers([object strides], (ptrdiff_t)coreml_itemsize(out->dtype), out->strides);\n    out->data = [object dataPointer];\n"),
    Fault("bound strides ignored", PREDICT, "as_numbers(array->rank, array->strides, itemsize)", "as_numbers(array->rank, array->shape, 1)"),
    Fault("layout of buffers not checked", PREDICT, "if (!lie_in_order(array))", "if (!lie_in_order(array) && false)"),
    Fault("wrong dtype", PREDICT, "dataType:(MLMultiArrayDataType)array->dtype\n                    strides", "dataType:MLMultiArrayDataTypeFloat32\n                    strides"),
    Fault("leaked wrapper", PXI, "coreml_array_release(&self.array)", "pass"),
    Fault("leaked binding", PREDICT, "        [binding->inputs release];\n", ""),
    Fault("leaked model", MODEL, "        [model->model release];\n", ""),
    Fault("leaked description", DESCRIBE, "        free(features[i].name);\n", ""),
    Fault("unbalanced retain", PREDICT, "        [(MLMultiArray *)results[i].object retain];\n", ""),
    Fault("backing retained twice", PREDICT, "[backings addObject:(id)outputs[i]->object]", "[backings addObject:[(id)outputs[i]->object retain]]"),
    Fault("no pool", PREDICT, "    pthread_mutex_lock(&binding->model->lock);\n    @autoreleasepool {", "    pthread_mutex_lock(&binding->model->lock);\n    {"),
    Fault("missing @catch", PREDICT, CATCHES, "        } @finally {\n        }\n"),
    Fault("foreign exceptions pass", PREDICT, CATCHES, CATCHES[: CATCHES.index(" @catch (...)")] + "\n"),
    Fault("lock kept after a failure", PREDICT, "    pthread_mutex_unlock(&binding->model->lock);\n    return status;", "    if (!status) {\n        pthread_mutex_unlock(&binding->model->lock);\n    }\n    return status;"),
    Fault("missing retry", PREDICT, "    if (found) {\n        return found;\n    }\n    found =", "    if (found || offering) {\n        return found;\n    }\n    found ="),
    Fault("no retry after an exception", PREDICT, RAISED, "    } @finally {\n    }\n    return nil;"),
    Fault("refusal not remembered", PREDICT, RELEASE_OFFER, "    }\n    return found;"),
    Fault("any failure taken for a refusal", PREDICT, "if (offering && found) {", "if (offering) {"),
    Fault("backing assumed bound", PREDICT, IDENTITY, "if (binding->offering) {"),
    Fault("stale backing: identity checked once", PREDICT, IDENTITY, "static int used = -1;\n        if (used < 0) {\n            used = array == [binding->backings objectAtIndex:i];\n        }\n        if (used) {"),
    Fault("one output not offered", PREDICT, "dictionaryWithObjects:backings\n                                                                     forKeys:names]", "dictionaryWithObject:[backings lastObject]\n                                                                     forKey:[names lastObject]]"),
    Fault("use after close", PREDICT, "binding->model->model ? predict(binding, results, failure) : COREML_CLOSED", "predict(binding, results, failure)"),
    Fault("close does not wait", MODEL, "    pthread_mutex_lock(&model->lock);\n", "    pthread_mutex_trylock(&model->lock);\n"),
    Fault("no lock", PREDICT, "    pthread_mutex_lock(&binding->model->lock);\n", "    pthread_mutex_trylock(&binding->model->lock);\n"),
    Fault("GIL kept", PYX, "with nogil:\n            status = coreml_predict", "if True:\n            status = coreml_predict"),
    Fault("inputs of predict not copied", PYX, "self.features_in, self.n_in, True)", "self.features_in, self.n_in, False)"),
    Fault("buffers not kept", PYX, "self.arrays, self.offered = model, [inputs, outputs], offered", "self.arrays, self.offered = model, [], dict(offered or {})"),
    Fault("shapes not checked", PXI, "if not coreml_admits(", "if False and not coreml_admits("),
    Fault("read-only buffer written", PXI, "if written and view.readonly", "if False and view.readonly"),
    Fault("names not checked", PXI, "if values.keys() != set(names)", "if not values.keys() >= set(names)"),
    Fault("cause of an error lost", MODEL, "while ((cause = ", "while (false && (cause = "),
    Fault("text cut within a character", MODEL, "while (n > 0 && ((unsigned char)utf8[n] & 0xc0) == 0x80)", "while (n > room)"),
    Fault("compute units lost", MODEL, "setComputeUnits:(MLComputeUnits)units]", "setComputeUnits:MLComputeUnitsAll]"),
    Fault("no limit read as one", DESCRIBE, "range.length >= INT32_MAX", "range.length == 0"),
    Fault("range read as first and last", DESCRIBE, "(range.location + MAX(range.length, 1u) - 1)", "range.length"),
    Fault("compiled twice", COMPILED, "        fcntl.flock(lock, fcntl.LOCK_EX)\n        if not anew and _is_whole(entry):\n            return\n", ""),
    Fault("compiled in place", COMPILED, 'partial = entry.with_suffix(".partial")', "partial = entry"),
    Fault("damage unnoticed", COMPILED, "return bool(sizes == _sizes(entry / _COMPILED))", "return True"),
    Fault("damage not repaired", COMPILED, "_store(model, entry, anew=True)", "pass"),
]  # fmt: skip


def noticed_by(fault: Fault) -> str | None:
    """The first test that fails, or stops the interpreter, with the fault in a copy."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("src", "csrc", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for generated in BUILT.glob("*/coreml.c"):  # most faults leave it as it is
            shutil.copytree(generated.parent, copy / generated.parent.relative_to(ROOT))
        file = copy / fault.file
        before, found, after = file.read_text().rpartition(fault.old)
        if not found:
            raise ValueError(f"{fault.file} does not hold {fault.old!r}")
        file.write_text(before + fault.new + after)
        tests = TESTS[::-1] if fault.file == COMPILED else TESTS
        command = [sys.executable, "-m", "pytest", "-xvv", "-p", "no:cacheprovider", *tests]
        environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}:{copy}"}
        try:
            done = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True,
                timeout=TIMEOUT_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired as hung:
            return f"{_last_test((hung.stdout or b'').decode())} (hangs)"
        if done.returncode == 0:
            return None
        if "RuntimeError: " in done.stdout:
            print(done.stdout, file=sys.stderr)
            return None  # it does not even build
        return _last_test(done.stdout) + (" (crashes)" if done.returncode < 0 else "")


def _last_test(output: str) -> str:
    names = re.findall(r"^tests/\S+?\.py::(\w+)", output, re.MULTILINE)
    return names[-1] if names else "collection"


def main(names: list[str]) -> int:
    survivors = 0
    for fault in FAULTS:
        if names and fault.name not in names:
            continue
        test = noticed_by(fault)
        survivors += test is None
        print(f"| {fault.name} | {test or 'UNNOTICED'} |", flush=True)
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
