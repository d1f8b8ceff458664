"""A voice: what the models need of a prompt recording, saved so that the audio is needed once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

import numpy.typing as npt
import safetensors
from safetensors.numpy import save as serialize

from twinvox.errors import ModelFormatError, ModelNotFoundError, PromptError, TwinvoxError

FORMAT = "twinvox-voice"
VERSION = "1"
_SHIPPED = Path(str(resources.files("twinvox"))) / "data" / "voices"


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """A prompt, ready for synthesis.

    ``prompt_text`` is what the prompt says; ``prompt_phonemes`` its IPA where the user gave that
    instead of text. ``tensors`` holds what each backend extracted from the audio, under
    ``<backend>.<name>``. ``info`` is free text about origin and licence.
    """

    prompt_text: str
    tensors: Mapping[str, npt.NDArray[Any]]
    prompt_phonemes: str | None = None
    info: Mapping[str, str] = field(default_factory=dict)

    def tensor(self, name: str) -> npt.NDArray[Any]:
        """The tensor called ``name``; PromptError where this voice was made without it."""
        try:
            return self.tensors[name]
        except KeyError:
            backend = name.partition(".")[0]
            raise PromptError(
                f"this voice holds {', '.join(sorted(self.tensors)) or 'nothing'} but no {name}; "
                f"make it again with the {backend} backend"
            ) from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write a .safetensors file that ``Voice.load`` reads."""
        metadata = {
            "format": FORMAT,
            "version": VERSION,
            "prompt_text": self.prompt_text,
            "info": json.dumps(dict(self.info), sort_keys=True),
        }
        if self.prompt_phonemes is not None:
            metadata["prompt_phonemes"] = self.prompt_phonemes
        try:
            Path(path).write_bytes(serialize(dict(self.tensors), metadata))
        except OSError as error:
            raise TwinvoxError(f"cannot write voice {path}: {error}") from error

    @classmethod
    def load(cls, source: str | PathLike[str]) -> "Voice":
        """Read a voice from a .safetensors file, or one that ships with twinvox by its name."""
        path = (
            _SHIPPED / f"{source}.safetensors" if str(source) in shipped_voices() else Path(source)
        )
        if not path.is_file():
            raise ModelNotFoundError(
                f"no voice file at {source}; give a .safetensors file written by Voice.save, or "
                f"one of the voices that ship: {', '.join(shipped_voices()) or 'none'}"
            )
        try:
            with safetensors.safe_open(path, framework="numpy") as stored:
                metadata = stored.metadata() or {}
                tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
        except (OSError, safetensors.SafetensorError) as error:
            raise ModelFormatError(f"{path} is not a readable safetensors file: {error}") from error
        if metadata.get("format") != FORMAT or metadata.get("version") != VERSION:
            raise ModelFormatError(
                f"{path} declares format {metadata.get('format')!r} version "
                f"{metadata.get('version')!r}; expected {FORMAT!r} version {VERSION!r}"
            )
        try:
            text, info = metadata["prompt_text"], json.loads(metadata["info"])
        except (KeyError, ValueError) as error:
            raise ModelFormatError(f"{path} has damaged voice metadata: {error!r}") from error
        return cls(text, tensors, metadata.get("prompt_phonemes"), info)


def shipped_voices() -> tuple[str, ...]:
    """Names of the voices inside the package."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.safetensors")))
