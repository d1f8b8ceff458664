"""Compiled Core ML models on disk, keyed by the content they come from."""

import fcntl
import json
import logging
import os
import shutil
import weakref
from pathlib import Path

from twinvox._native.coreml import Model, compile_package
from twinvox.errors import ModelFormatError, ModelNotFoundError
from twinvox.mil.layout import model_files
from twinvox.runtime.cache import content_key

_COMPILED = "model.mlmodelc"
_SIZES = "sizes.json"
_log = logging.getLogger("twinvox")


def open_compiled(model: Path, compute_units: str, folder: Path) -> Model:
    """Open a .mlmodelc, or a .mlpackage by way of its compiled form in ``folder``.

    A compiled form appears whole or not at all and is made once, however many processes ask; a
    damaged one is made again. So is a .mlmodelc of symbolic links, as a hub's cache has them, where
    Core ML does not follow them: of hard links. Where ``folder`` cannot be written each call
    compiles, with a warning in the log. Raises ModelNotFoundError, or ModelFormatError with Core
    ML's own words.
    """
    if not model.exists():
        raise ModelNotFoundError(f"no model at {model}")
    if model.suffix == ".mlmodelc":
        try:
            return Model(str(model), compute_units)
        except ModelFormatError as error:
            if not _is_linked(model):
                raise
            _log.info("opening without symbolic links: %s", error)
        files = sorted(path for path in model.rglob("*") if path.is_file())
    else:
        program, weights = model_files(model)
        files = [program, *weights]
    entry = folder / content_key(files)
    try:
        _store(model, entry, anew=False)
        try:
            return _load(model, entry / _COMPILED, compute_units)
        except ModelFormatError as error:
            _log.info("compiling again: %s", error)
            _store(model, entry, anew=True)
            return _load(model, entry / _COMPILED, compute_units)
    except OSError as error:
        _log.warning("cannot keep the compiled model in %s: %s", folder, error)
        return _open_unkept(model, compute_units)


def _store(model: Path, entry: Path, *, anew: bool) -> None:
    """Compile the model into ``entry`` unless it is there, whole, or ``anew``."""
    if not anew and _is_whole(entry):
        return
    entry.parent.mkdir(parents=True, exist_ok=True)
    with entry.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not anew and _is_whole(entry):
            return
        partial = entry.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)  # of a process that was stopped
        partial.mkdir()
        _compile(model, partial / _COMPILED)
        (partial / _SIZES).write_text(json.dumps(_sizes(partial / _COMPILED)))
        shutil.rmtree(entry, ignore_errors=True)
        partial.rename(entry)


def _compile(model: Path, target: Path) -> None:
    if not _is_linked(model):
        shutil.move(compile_package(str(model)), target)
        return
    plain = target.with_name(model.name)
    shutil.copytree(model, plain, copy_function=_link)
    if model.suffix == ".mlmodelc":
        plain.rename(target)
    else:
        shutil.move(compile_package(str(plain)), target)
        shutil.rmtree(plain)


def _is_linked(model: Path) -> bool:
    return any(path.is_symlink() for path in model.rglob("*"))


def _link(source: str, target: str) -> None:
    """A hard link to what ``source`` leads to, or a copy where that is on another disk."""
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copy2(source, target)


def _is_whole(entry: Path) -> bool:
    try:
        sizes = json.loads((entry / _SIZES).read_text())
    except (OSError, ValueError):
        return False
    return bool(sizes == _sizes(entry / _COMPILED))


def _sizes(folder: Path) -> dict[str, int]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}


def _load(model: Path, compiled: Path, compute_units: str) -> Model:
    try:
        return Model(str(compiled), compute_units)
    except ModelFormatError as error:
        raise ModelFormatError(f"{model}: {error}") from error


def _open_unkept(model: Path, compute_units: str) -> Model:
    if model.suffix == ".mlmodelc":
        return Model(str(model), compute_units)
    compiled = Path(compile_package(str(model)))
    try:
        opened = _load(model, compiled, compute_units)
    except ModelFormatError:
        shutil.rmtree(compiled, ignore_errors=True)
        raise
    weakref.finalize(opened, shutil.rmtree, compiled, ignore_errors=True)
    return opened
