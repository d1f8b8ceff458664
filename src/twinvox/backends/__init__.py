"""Voice-cloning backends and how to load them."""

import os
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from twinvox.errors import ModelNotFoundError

if TYPE_CHECKING:
    from twinvox.backends.luxtts.synthesizer import LuxTTS

BACKENDS = ("embedded", "luxtts")
MODELS_DIR_ENV = "TWINVOX_MODELS_DIR"


def load(
    model: str | PathLike[str] = "embedded",
    *,
    models_dir: str | PathLike[str] | None = None,
    variant: str | None = None,
    runtime: str = "auto",
    threads: int | None = None,
) -> "LuxTTS":
    """Load a model.

    ``model`` is "embedded" (the small English voice inside the package), "luxtts", or a folder in
    the published LuxTTS layout. "luxtts" is looked up in ``models_dir``, else in
    ``$TWINVOX_MODELS_DIR/luxtts``. ``variant`` is gpu or ane (default: ``TWINVOX_LUXTTS_VARIANT``,
    else gpu). ``runtime`` is auto, coreml or onnx. ``threads`` is the number of threads of one
    model run (default: the physical cores, at most 4).
    """
    from twinvox.backends.luxtts.synthesizer import LuxTTS

    return LuxTTS.load(
        model_folder(model, models_dir), variant=variant, runtime=runtime, threads=threads
    )


def model_folder(model: str | PathLike[str], models_dir: str | PathLike[str] | None = None) -> Path:
    """Where the files of ``model`` are; the arguments of ``load``."""
    if model == "embedded":
        return Path(str(resources.files("twinvox"))) / "data" / "embedded"
    if model != "luxtts":
        folder = Path(model)
        if folder.is_dir():
            return folder
        raise ModelNotFoundError(
            f"{str(model)!r} is neither a folder nor one of {', '.join(BACKENDS)}"
        )
    if models_dir is not None:
        return Path(models_dir)
    root = os.environ.get(MODELS_DIR_ENV)
    if root is None:
        raise ModelNotFoundError(
            "no folder with the LuxTTS models is known; give models_dir (--models-dir), or set "
            f"{MODELS_DIR_ENV} to a folder that holds luxtts/"
        )
    return Path(root) / "luxtts"
