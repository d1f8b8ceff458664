"""Where the program of a model folder and its weights lie; light, for no file is parsed for it."""

import json
from pathlib import Path, PurePosixPath
from typing import NoReturn

from twinvox.errors import ModelFormatError, ModelNotFoundError

COMPILED_PROGRAM = "model.mil"


def is_compiled(path: Path) -> bool:
    """Whether the model folder at ``path`` is a .mlmodelc, not a package."""
    return path.suffix == ".mlmodelc" or (path / COMPILED_PROGRAM).exists()


def program_file(path: Path) -> Path:
    """The file that holds the program of the model folder at ``path``.

    Raises ModelNotFoundError where it is missing, ModelFormatError where ``path`` is something
    else or names a file outside.
    """
    return compiled_program(path) if is_compiled(path) else package_program(path)


def model_files(path: Path) -> tuple[Path, list[Path]]:
    """The program file and the weight files, which are those in the folder weights beside it.
    Whatever else lies in the model folder is no part of the model."""
    program = program_file(path)
    weights = program.parent / "weights"
    return program, sorted(file for file in weights.glob("*") if file.is_file())


def compiled_program(path: Path) -> Path:
    """As ``program_file``, of a .mlmodelc."""
    file = path / COMPILED_PROGRAM
    if not file.is_file():
        _refuse(path)
    return file


def package_program(path: Path) -> Path:
    """As ``program_file``, of a .mlpackage."""
    manifest = path / "Manifest.json"
    if not path.exists():
        raise ModelNotFoundError(f"no model at {path}")
    if not path.is_dir():
        raise ModelFormatError(f"{path} is a file; a .mlpackage is a folder with a Manifest.json")
    if not manifest.is_file():
        raise ModelNotFoundError(f"{path} has no Manifest.json; the package is incomplete")
    try:
        content = json.loads(manifest.read_bytes())
        root = content["rootModelIdentifier"]
        relative = PurePosixPath(content["itemInfoEntries"][root]["path"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFormatError(f"{manifest} names no root model: {error!r}") from error
    if relative.is_absolute() or ".." in relative.parts:
        raise ModelFormatError(f"{manifest} names a model outside the package: {relative}")
    file = path / "Data" / relative
    if not file.is_file():
        raise ModelNotFoundError(f"{path} has no {relative}; the package is incomplete")
    return file


def _refuse(path: Path) -> NoReturn:
    """Say what a folder without model.mil is."""
    if not path.exists():
        raise ModelNotFoundError(f"no model at {path}")
    if not path.is_dir():
        raise ModelFormatError(
            f"{path} is a file; a .mlmodelc is a folder with a {COMPILED_PROGRAM}"
        )
    if stages := sorted(stage.name for stage in path.glob("model[0-9]*") if stage.is_dir()):
        raise ModelFormatError(
            f"{path} is a pipeline of {', '.join(stages)}, not an ML Program; open its models alone"
        )
    if (path / "model.espresso.net").exists():
        raise ModelFormatError(
            f"{path} is a compiled neural network, not an ML Program; convert its source again "
            "with coremltools and convert_to='mlprogram'"
        )
    raise ModelNotFoundError(f"{path} has no {COMPILED_PROGRAM}; the folder is incomplete")
