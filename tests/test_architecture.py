"""Imports point one way down: cli -> backends -> text, runtime -> mil, _native."""

import ast
from pathlib import Path

import pytest

import twinvox

SOURCE = Path(twinvox.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# What each part may import of twinvox; "" stands for the modules at the top level.
ALLOWED = {
    "__main__": {"cli"},
    "cli": {
        "", "asr", "backends", "bench", "console", "g2p_cli", "hub", "models_cli", "runtime",
        "text", "_native", "errors", "voice",
    },
    "console": {"errors"},
    "g2p_cli": {"backends", "text", "errors"},
    "bench": {
        "", "asr", "audio", "backends", "bench", "hub", "runtime", "text", "errors", "speech",
    },
    "models_cli": {"", "backends", "hub", "mil", "errors", "voice"},
    "asr": {"audio", "hub", "errors"},
    "backends": {
        "asr", "backends", "hub", "runtime", "text", "_native", "audio", "errors", "speech",
        "tables", "voice",
    },
    "hub": {"hub", "mil", "errors"},
    "runtime": {"runtime", "mil", "_native", "errors"},
    "mil": {"mil", "errors"},
    "text": {"text", "errors", "_native"},
    "audio": {"errors"},
    "speech": {"audio"},
    "tables": {"_native", "errors"},
    "voice": {"errors"},
    "errors": set(),
    "__init__": {"backends", "errors", "speech", "voice"},
}  # fmt: skip


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path):
    part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if part == "_native":
        return
    for name in imported(path):
        if name.split(".")[0] == "twinvox":
            target = [*name.split("."), ""][1]
            assert target in ALLOWED[part], f"{path.name} imports {name}"


def test_one_backend_never_imports_another():
    for path in (SOURCE / "backends").rglob("*/*.py"):
        own = path.parent.name
        for name in imported(path):
            if name.startswith("twinvox.backends.") and name != "twinvox.backends.base":
                assert name.split(".")[2] == own, f"{path} imports {name}"


def test_no_module_is_longer_than_400_lines():
    for path in MODULES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path


@pytest.mark.parametrize("package", ["torch", "transformers", "inflect", "lhotse", "coremltools"])
def test_nothing_heavy_is_imported(package):
    for path in MODULES:
        assert package not in {name.split(".")[0] for name in imported(path)}, path
