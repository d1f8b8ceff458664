"""Core ML's ML Programs without Core ML: read a model, translate its program to ONNX."""

from pathlib import Path
from typing import TYPE_CHECKING

from twinvox.mil.layout import is_compiled

if TYPE_CHECKING:
    from twinvox.mil.program import Program


def read_program(path: Path) -> "Program":
    """Read the model folder at ``path``: compiled (.mlmodelc, known by its model.mil) or a package.

    Raises what ``read_compiled`` and ``read_package`` raise.
    """
    if is_compiled(path):
        from twinvox.mil.text import read_compiled

        return read_compiled(path)
    from twinvox.mil.package import read_package

    return read_package(path)
