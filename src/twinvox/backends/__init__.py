"""Voice-cloning backends and how to load them."""

from importlib import resources
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, overload

from twinvox.errors import ModelNotFoundError
from twinvox.runtime import RuntimeOptions
from twinvox.runtime.compute_units import ComputeUnits

if TYPE_CHECKING:
    from twinvox.backends.cosyvoice3.synthesizer import CosyVoice3
    from twinvox.backends.luxtts.synthesizer import LuxTTS

BACKENDS = ("embedded", "luxtts", "cosyvoice3", "cv3")
PUBLISHED = ("luxtts", "cosyvoice3")

_FilePath = str | PathLike[str] | None
_ALIASES = {"cv3": "cosyvoice3"}


class LuxTTSOptions(RuntimeOptions, total=False):
    """What ``load`` takes for LuxTTS and the embedded voice."""

    models_dir: _FilePath
    offline: bool
    variant: str | None


class CosyVoice3Options(RuntimeOptions, total=False):
    """What ``load`` takes for CosyVoice3."""

    models_dir: _FilePath
    offline: bool
    tokenizer_dir: _FilePath
    embeddings_file: _FilePath
    special_tokens_file: _FilePath


class LoadOptions(LuxTTSOptions, CosyVoice3Options, total=False):
    """What ``load`` takes for a folder, which may be either's."""


@overload
def load(
    model: Literal["embedded", "luxtts"] = "embedded", **options: Unpack[LuxTTSOptions]
) -> "LuxTTS": ...
@overload
def load(
    model: Literal["cosyvoice3", "cv3"], **options: Unpack[CosyVoice3Options]
) -> "CosyVoice3": ...
@overload
def load(model: str | PathLike[str], **options: Unpack[LoadOptions]) -> "LuxTTS | CosyVoice3": ...
def load(
    model: str | PathLike[str] = "embedded",
    *,
    models_dir: _FilePath = None,
    offline: bool = False,
    variant: str | None = None,
    tokenizer_dir: _FilePath = None,
    embeddings_file: _FilePath = None,
    special_tokens_file: _FilePath = None,
    runtime: str = "auto",
    threads: int | None = None,
    compute_units: ComputeUnits | None = None,
    precision: str = "fp32",
) -> "LuxTTS | CosyVoice3":
    """Load a model.

    ``model`` is "embedded" (the small English voice inside the package), "luxtts", "cosyvoice3"
    (Mandarin; also "cv3"), or a folder in the published layout of either. Where ``models_dir`` or
    ``$TWINVOX_MODELS_DIR/<name>`` is given, a name stands for that folder; else for the published
    models, which are found on this machine or fetched, unless ``offline`` or ``HF_HUB_OFFLINE``
    is set.

    ``runtime`` is auto, coreml or onnx. ``threads`` is the number of threads of one model run
    (default: the physical cores, at most 4) on ONNX Runtime; Core ML chooses its own.
    ``compute_units`` is what Core ML may use, all, cpu_only, cpu_and_gpu or cpu_and_ne: one for
    every stage, or "stage=unit,…" or a dict for single stages, named as in ``Speech.timings``. Left
    out, each stage runs where its graph is known to work; given where Core ML is not the runtime,
    a ValueError. ``precision`` "int8" makes decode and flow faster and less exact, on ONNX Runtime
    only; the other stages stay as they are.

    LuxTTS: ``variant`` is gpu or ane (default: ``TWINVOX_LUXTTS_VARIANT``, else gpu). CosyVoice3:
    ``tokenizer_dir``, ``embeddings_file`` and ``special_tokens_file`` replace those of the folder.
    """
    folder = model_folder(model, models_dir, variant=variant, offline=offline)
    own = {
        "tokenizer_dir": tokenizer_dir,
        "embeddings_file": embeddings_file,
        "special_tokens_file": special_tokens_file,
    }
    chosen: RuntimeOptions = {
        "runtime": runtime,
        "threads": threads,
        "compute_units": compute_units,
        "precision": precision,
    }
    if _is_cosyvoice3(model, folder):
        from twinvox.backends.cosyvoice3.synthesizer import CosyVoice3

        if variant is not None:
            raise TypeError(f"variant {variant!r} is for LuxTTS; CosyVoice3 has none")
        return CosyVoice3.load(folder, **own, **chosen)
    from twinvox.backends.luxtts.folder import DEFAULT_VARIANT
    from twinvox.backends.luxtts.synthesizer import LuxTTS

    given = [name for name, value in own.items() if value is not None]
    if given:
        raise TypeError(f"{', '.join(given)} can only be given for CosyVoice3")
    if model == "embedded":
        if variant is not None:
            raise TypeError(f"variant {variant!r} is for LuxTTS; the embedded voice has none")
        variant = DEFAULT_VARIANT  # whatever the environment says of published models
    return LuxTTS.load(folder, variant=variant, **chosen)


def model_folder(
    model: str | PathLike[str],
    models_dir: _FilePath = None,
    *,
    variant: str | None = None,
    offline: bool = False,
) -> Path:
    """Where the files of ``model`` are, fetched where need be; the arguments of ``load``."""
    if models_dir is not None and (model == "embedded" or model not in BACKENDS):
        raise TypeError(
            f"models_dir {str(models_dir)!r} goes with {' or '.join(PUBLISHED)}, not with "
            f"{str(model)!r}"
        )
    if model == "embedded":
        return Path(str(resources.files("twinvox"))) / "data" / "embedded"
    if model not in BACKENDS:
        folder = Path(model)
        if folder.is_dir():
            return folder
        raise ModelNotFoundError(
            f"{str(model)!r} is neither a folder nor one of {', '.join(BACKENDS)}"
        )
    from twinvox.hub import check, ensure, given_folder

    name = _ALIASES.get(str(model), str(model))
    files = published_files(name, variant)
    given = given_folder(name, models_dir)
    if given is None:
        return ensure(name, files, offline=offline)
    check(name, given, files)
    return given


def published_files(name: str, variant: str | None = None) -> tuple[str, ...]:
    """Patterns of the paths in the repository of "luxtts" or "cosyvoice3" that ``load`` needs."""
    if name == "cosyvoice3":
        from twinvox.backends.cosyvoice3 import folder as cosyvoice3

        return cosyvoice3.published_files()
    from twinvox.backends.luxtts import folder as luxtts

    return luxtts.published_files(luxtts.choose_variant(variant))


def _is_cosyvoice3(model: str | PathLike[str], folder: Path) -> bool:
    from twinvox.backends.cosyvoice3.folder import is_model_folder

    if model in BACKENDS:
        return _ALIASES.get(str(model), model) == "cosyvoice3"
    return is_model_folder(folder)
