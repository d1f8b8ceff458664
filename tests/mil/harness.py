"""Run a translated program and compare it with NumPy.

@covers("relu")
@few
@given(shape=shapes(), seed=seeds)
def test_relu(shape, seed):
    x = floats(shape, seed)
    check("relu", lambda x: mb.relu(x=x), {"x": x}, np.maximum(x, 0))
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hypothesis.strategies as st
import numpy as np
import onnxruntime
from hypothesis import Phase, settings

from tests.mil.builder import Input, Range, build_package
from tests.mil.text_printer import VERSIONS, write_compiled
from twinvox.mil.package import read_package
from twinvox.mil.program import Program
from twinvox.mil.text import read_compiled
from twinvox.mil.translate import to_onnx

few = settings(
    deadline=None,
    max_examples=4,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
)
"""For tests that build a package for every example: few of them, and no shrinking."""

COVERED: set[str] = set()


def covers(*kinds: str) -> Callable[[Any], Any]:
    """Declare which operator kinds a test checks against NumPy; every kind must have one."""
    COVERED.update(kinds)
    return lambda test: test


def session(program: Program, **options: Any) -> onnxruntime.InferenceSession:
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 3
    if program.weights_folder is not None:
        settings.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(program.weights_folder)
        )
    model = to_onnx(program, **options).SerializeToString()
    return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


def run(program: Program, inputs: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Outputs by name; options are those of ``to_onnx``."""
    names = [feature.name for feature in program.features_out]
    return dict(zip(names, session(program, **options).run(names, inputs), strict=True))


def check(
    kind: str,
    function: Callable[..., Any],
    inputs: dict[str, Any],
    expected: Any,
    *,
    opset: str = "iOS17",
    flexible: bool = False,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    **options: Any,
) -> None:
    """Build a package around ``function``, run it on ``inputs`` and compare its outputs, in order,
    with ``expected`` (an array or a tuple of them), dtype and shape included.

    ``flexible`` declares every size of every input as a range.
    """
    specs = {}
    for name, array in inputs.items():
        sizes = tuple(Range(1, 99, size) for size in array.shape) if flexible else array.shape
        specs[name] = Input(sizes, array.dtype.type)
    with TemporaryDirectory() as folder:
        package = build_package(Path(folder) / "op.mlpackage", function, specs, opset=opset)
        program = read_package(package)
        kinds = {operation.kind for operation in program.operations}
        assert kind in kinds, f"the package holds {kinds}"
        check_as_text(package)
        results = list(run(program, inputs, **options).values())
    wanted = expected if isinstance(expected, tuple) else (expected,)
    assert len(results) == len(wanted)
    for result, array in zip(results, wanted, strict=True):
        array = np.asarray(array)
        assert (result.dtype, result.shape) == (array.dtype, array.shape)
        np.testing.assert_allclose(result, array, rtol=rtol, atol=atol)


def check_as_text(package: Path) -> None:
    """Print a package as text, both ways, and compare what is read back: inputs and graph."""
    expected = read_package(package)
    for version in VERSIONS:
        with TemporaryDirectory() as folder:
            compiled = write_compiled(package, Path(folder) / "op.mlmodelc", version=version)
            program = read_compiled(compiled)
            assert program.features_in == expected.features_in
            assert graph_of(program) == graph_of(expected)


def graph_of(program: Program) -> bytes:
    """The graph's bytes, but for the model's name."""
    return to_onnx(replace(program, name="")).SerializeToString()


def floats(shape: Sequence[int], seed: int, low: float = -3.0, high: float = 3.0) -> Any:
    """Uniform float32 numbers; the same for the same arguments."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def integers(shape: Sequence[int], seed: int, low: int = -9, high: int = 9) -> Any:
    return np.random.default_rng(seed).integers(low, high + 1, shape).astype(np.int32)


def shapes(low: int = 1, high: int = 4, largest: int = 6) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of ``low`` to ``high`` axes of sizes up to ``largest``."""
    return st.lists(st.integers(1, largest), min_size=low, max_size=high).map(tuple)


seeds = st.integers(0, 2**16)
