"""The published folder layout of LuxTTS models.

    {gpu,ane}/{TextEncoder,FmDecoder}.mlmodelc
    vocoder/Vocoder{282,555}.mlmodelc
    tokens.txt
    config.json

Each model may be an .mlpackage instead. A model for one bucket only has the bucket's length in its
name; a model with flexible frames has no number and serves every bucket.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from twinvox.backends.luxtts.contract import CONTRACT
from twinvox.errors import ModelFormatError, ModelNotFoundError
from twinvox.runtime.base import MODEL_SUFFIXES

VARIANTS = ("gpu", "ane")
DEFAULT_VARIANT = "gpu"
VARIANT_ENV = "TWINVOX_LUXTTS_VARIANT"


def choose_variant(asked: str | None) -> str:
    """The argument, else ``TWINVOX_LUXTTS_VARIANT``, else gpu."""
    variant = asked or os.environ.get(VARIANT_ENV) or DEFAULT_VARIANT
    if variant not in VARIANTS:
        raise ValueError(f"variant is {variant!r}; expected one of {', '.join(VARIANTS)}")
    return variant


def published_files(variant: str) -> tuple[str, ...]:
    """Patterns of the paths in the published repository that one variant needs."""
    return (
        f"{variant}/TextEncoder*.mlmodelc/*",
        f"{variant}/FmDecoder*.mlmodelc/*",
        "vocoder/Vocoder*.mlmodelc/*",
        "tokens.txt",
        "config.json",
    )


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """Where each model of one folder and variant is; buckets in mel frames, ascending."""

    tokens: Path
    text_encoder: Path
    fm_decoder: dict[int, Path]
    vocoder: dict[int, Path]

    @property
    def stages(self) -> dict[Path, str]:
        """The stage of each model, by the names that timings and compute units use."""
        return {
            self.text_encoder: "text_encoder",
            **dict.fromkeys(self.fm_decoder.values(), "flow"),
            **dict.fromkeys(self.vocoder.values(), "vocoder"),
        }


def open_folder(root: Path, variant: str) -> ModelFolder:
    """Find every file of a folder. ModelNotFoundError names all that are missing together."""
    if not root.is_dir():
        raise ModelNotFoundError(f"no LuxTTS model folder at {root}")
    config = _read_config(root / "config.json")
    stage = root / variant
    folder = ModelFolder(
        tokens=root / "tokens.txt",
        text_encoder=_model(stage, "TextEncoder"),
        fm_decoder={
            n: _model(stage, f"FmDecoder{n}", "FmDecoder")
            for n in _buckets(config, "frame_buckets", CONTRACT.frame_buckets)
        },
        vocoder={
            n: _model(root / "vocoder", f"Vocoder{n}", "Vocoder")
            for n in _buckets(config, "vocoder_buckets", CONTRACT.vocoder_buckets)
        },
    )
    wanted = [
        folder.tokens, folder.text_encoder, *folder.fm_decoder.values(), *folder.vocoder.values()
    ]  # fmt: skip
    missing = [str(path.relative_to(root)) for path in dict.fromkeys(wanted) if not path.exists()]
    if missing:
        raise ModelNotFoundError(
            f"the LuxTTS model folder {root} lacks {', '.join(missing)}; "
            "copy the whole published folder, or choose the variant it holds"
        )
    return folder


def _model(folder: Path, *stems: str) -> Path:
    """The first that exists, else the one that should."""
    paths = [folder / f"{stem}{suffix}" for stem in stems for suffix in MODEL_SUFFIXES]
    return next((path for path in paths if path.exists()), paths[0])


def _read_config(path: Path) -> dict[str, object]:
    if not path.exists():
        return {}
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelFormatError(f"{path} is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise ModelFormatError(f"{path} holds {type(config).__name__}; expected an object")
    return config


def _buckets(config: dict[str, object], name: str, default: tuple[int, ...]) -> list[int]:
    value = config.get(name, list(default))
    if (
        not isinstance(value, list)
        or not value
        or not all(type(n) is int and n >= CONTRACT.min_generated for n in value)
    ):
        raise ModelFormatError(
            f"config.json has {name} = {value!r}; expected a list of frame counts as "
            f"{list(default)}"
        )
    return sorted(set(value))
