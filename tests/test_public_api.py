import subprocess
import sys

import twinvox
from twinvox import errors


def test_public_names():
    assert sorted(twinvox.__all__) == ["Segment", "Speech", "TwinvoxError", "Voice", "load"]
    for name in twinvox.__all__:
        assert getattr(twinvox, name).__doc__


def test_every_error_is_documented_and_of_one_tree():
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    assert len(classes) > 8
    for cls in classes:
        assert cls.__doc__
        assert issubclass(cls, errors.TwinvoxError | UserWarning)


def test_import_has_no_effect():
    program = """
import os, sys, threading
before = dict(os.environ)
import twinvox
assert dict(os.environ) == before
assert threading.active_count() == 1
heavy = {"onnxruntime", "onnx", "google.protobuf", "torch", "tqdm"} & set(sys.modules)
assert not heavy, heavy
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
