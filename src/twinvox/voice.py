"""A voice: what the models need of a prompt recording, saved so that the audio is needed once.

Two kinds of file hold one: the .safetensors that ``Voice.save`` writes, and a prompt bundle of
CosyVoice3, which is ``<id>.safetensors`` with the transcript in ``<id>.json`` beside it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
from safetensors.numpy import save

from twinvox.errors import ModelFormatError, ModelNotFoundError, PromptError, TwinvoxError

FORMAT = "twinvox-voice"
VERSION = "1"
# The tensors of a bundle, each with a leading axis of 1, and what a Voice calls them.
BUNDLE_TENSORS = {
    "llm_prompt_speech_ids": "cosyvoice3.prompt_speech_ids",
    "prompt_mel": "cosyvoice3.prompt_mel",
    "spk_embedding": "cosyvoice3.speaker_embedding",
}
# What reading a file raises: the last two for types that NumPy has not, such as bfloat16.
READ_ERRORS = (OSError, safetensors.SafetensorError, TypeError, AttributeError)
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
                f"use a voice that was made for the {backend} backend"
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
        _write(Path(path), _serialized(self.tensors, metadata))

    def save_bundle(self, path: str | PathLike[str]) -> None:
        """Write a prompt bundle: ``path``, a .safetensors file, and the .json beside it.

        Raises PromptError where the voice was not made for CosyVoice3, ValueError where ``path``
        is that of the .json.
        """
        if Path(path).suffix == ".json":
            raise ValueError(f"{path} is where the transcript goes; give the .safetensors file")
        tensors = {stored: self.tensor(name)[None] for stored, name in BUNDLE_TENSORS.items()}
        sidecar = json.dumps({"prompt_text": self.prompt_text}, ensure_ascii=False)
        _write(Path(path), _serialized(tensors))
        _write(Path(path).with_suffix(".json"), sidecar.encode())

    @classmethod
    def load(cls, source: str | PathLike[str]) -> "Voice":
        """Read a voice or a prompt bundle from a .safetensors file, or a shipped voice by name."""
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
                names = set(stored.keys())
                bundled = metadata.get("format") != FORMAT and names & BUNDLE_TENSORS.keys()
                wanted = names & BUNDLE_TENSORS.keys() if bundled else names
                tensors = {name: stored.get_tensor(name) for name in sorted(wanted)}
        except READ_ERRORS as error:
            raise ModelFormatError(f"{path} is not a readable safetensors file: {error}") from error
        if bundled:
            return cls(_read_sidecar(path), _unbatched(path, tensors))
        if metadata.get("format") != FORMAT or metadata.get("version") != VERSION:
            raise ModelFormatError(
                f"{path} declares format {metadata.get('format')!r} version "
                f"{metadata.get('version')!r}; expected {FORMAT!r} version {VERSION!r}"
            )
        try:
            text, info = metadata["prompt_text"], json.loads(metadata["info"])
        except (KeyError, ValueError) as error:
            raise ModelFormatError(f"{path} has damaged voice metadata: {error!r}") from error
        if not isinstance(info, dict):
            raise ModelFormatError(
                f"{path} has damaged voice metadata: info is {info!r}; expected a JSON object"
            )
        return cls(text, tensors, metadata.get("prompt_phonemes"), info)


def _unbatched(path: Path, tensors: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The tensors of a bundle by their names in a Voice."""
    missing = sorted(BUNDLE_TENSORS.keys() - tensors.keys())
    if missing:
        raise ModelFormatError(f"the prompt bundle {path} lacks {', '.join(missing)}")
    for name, array in tensors.items():
        if array.ndim < 2 or array.shape[0] != 1:
            raise ModelFormatError(
                f"{name} of the prompt bundle {path} has shape {list(array.shape)}; expected a "
                "leading axis of 1"
            )
    return {name: tensors[stored][0] for stored, name in BUNDLE_TENSORS.items()}


def _read_sidecar(bundle: Path) -> str:
    """The transcript of a bundle."""
    path = bundle.with_suffix(".json")
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelNotFoundError(
            f"the prompt bundle {bundle} has no {path.name} beside it, which holds its "
            f"transcript: {error.strerror}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{path} is not JSON: {error}") from error
    text = content.get("prompt_text") if isinstance(content, dict) else None
    if not isinstance(text, str):
        raise ModelFormatError(f'{path} has no text under "prompt_text"')
    return text


def _serialized(
    tensors: Mapping[str, npt.NDArray[Any]], metadata: dict[str, str] | None = None
) -> bytes:
    # safetensors writes the memory of an array as it lies, without a look at its strides.
    return save({name: np.asarray(a, order="C") for name, a in tensors.items()}, metadata)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise TwinvoxError(f"cannot write voice {path}: {error}") from error


def shipped_voices() -> tuple[str, ...]:
    """Names of the voices inside the package."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.safetensors")))
