"""The recorded runs that parity is measured against."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import soundfile

from twinvox.audio import Samples
from twinvox.backends.base import Ids
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.prompt import Float32, Prompt
from twinvox.errors import ModelFormatError, ModelNotFoundError
from twinvox.runtime.base import Array
from twinvox.voice import BUNDLE_TENSORS, READ_ERRORS, Voice

_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Fixture:
    """Tensors of a recorded run, as the file has them."""

    path: Path
    tensors: Mapping[str, Array]

    def number(self, name: str) -> int:
        """A whole number, [] or of axes of 1."""
        array = self.tensors[name]
        if array.size != 1 or array.dtype.kind not in "iu":
            raise self._unlike(name, "one whole number")
        return int(array.reshape(())[()])

    def ids(self, name: str) -> Ids:
        """Whole numbers [n] of [n] or [1, n]."""
        array = self._unbatched(name, 1)
        if array.dtype.kind not in "iu":
            raise self._unlike(name, "whole numbers [n] or [1, n]")
        if array.size and not _INT32.min <= array.min() <= array.max() <= _INT32.max:
            raise self._unlike(name, "ids of 32 bits")
        return np.ascontiguousarray(array, np.int32)

    def embeds(self) -> Float32:
        """The language model's input [rows, embed_dim]."""
        array = self._floats("lm_input_embeds", 2)
        rows, channels = array.shape
        if not 1 <= rows <= CONTRACT.prefill_tokens or channels != CONTRACT.embed_dim:
            raise self._unlike(
                "lm_input_embeds",
                f"[1, T, {CONTRACT.embed_dim}], T from 1 to {CONTRACT.prefill_tokens}",
            )
        if not np.isfinite(array).all():
            raise ModelFormatError(f"lm_input_embeds of {self.path} holds NaN or infinite values")
        return array

    def lm_input(self) -> Float32:
        """The rows of ``embeds`` that are no padding, [t_pre, embed_dim]."""
        rows, t_pre = self.embeds(), self.number("t_pre")
        if not 1 <= t_pre <= len(rows):
            raise ModelFormatError(
                f"{self.path}: lm_input_embeds has {len(rows)} rows, but t_pre is {t_pre}"
            )
        return rows[:t_pre]

    def prompt(self, text: str) -> Prompt:
        """Raises PromptError where the prompt's tensors do not fit together."""
        arrays: dict[str, Array] = {
            "llm_prompt_speech_ids": self.ids("llm_prompt_speech_ids"),
            "prompt_mel": self._floats("prompt_mel", 2),
            "spk_embedding": self._floats("spk_embedding", 1),
        }
        return Prompt.from_voice(
            Voice(text, {BUNDLE_TENSORS[name]: array for name, array in arrays.items()})
        )

    def _floats(self, name: str, axes: int) -> Float32:
        array = self._unbatched(name, axes)
        if array.dtype.kind != "f":
            raise self._unlike(name, "floats")
        return np.ascontiguousarray(array, np.float32)

    def _unbatched(self, name: str, axes: int) -> Array:
        """Without the leading axis of 1 that there may be."""
        array = self.tensors[name]
        if array.ndim == axes + 1 and len(array) == 1:
            array = array[0]
        if array.ndim != axes:
            raise self._unlike(name, f"{axes} axes, or one of 1 before them")
        return array

    def _unlike(self, name: str, expected: str) -> ModelFormatError:
        array = self.tensors[name]
        return ModelFormatError(
            f"{name} of {self.path} is {array.dtype} {list(array.shape)}; expected {expected}"
        )


def read_fixture(path: Path, names: Iterable[str]) -> Fixture:
    """The tensors ``names`` and the prompt's."""
    wanted = [*names, *BUNDLE_TENSORS]
    if not path.is_file():
        raise ModelNotFoundError(f"no parity fixture at {path}")
    try:
        with safetensors.safe_open(path, framework="numpy") as stored:
            held = set(stored.keys())
            missing = [name for name in wanted if name not in held]
            tensors = {name: stored.get_tensor(name) for name in wanted if name in held}
    except READ_ERRORS as error:
        raise ModelFormatError(f"{path} is not a readable safetensors file: {error}") from error
    if missing:
        raise ModelFormatError(f"the parity fixture {path} lacks {', '.join(missing)}")
    return Fixture(path, tensors)


def read_texts(fixture: Path) -> tuple[str, str]:
    """What the prompt says and what the recorded run said."""
    path = fixture.with_suffix(".json")
    if not path.is_file():
        raise ModelNotFoundError(
            f"the parity fixture {fixture} has no {path.name} beside it, which holds its "
            "prompt_text and tts_text"
        )
    match _read_json(path):
        case {"prompt_text": str(prompt_text), "tts_text": str(tts_text)}:
            return prompt_text, tts_text
    raise ModelFormatError(f'{path} has no texts under "prompt_text" and "tts_text"')


def read_cases(path: Path) -> tuple[dict[str, int], list[tuple[str, list[int]]]]:
    """The special tokens, which may be none, and the texts with their ids."""
    content = _read_json(path)
    cases = content.get("cases") if isinstance(content, dict) else None
    if not isinstance(cases, list) or not cases:
        raise ModelFormatError(f'{path} has no list of texts and ids under "cases"')
    read = []
    for number, case in enumerate(cases):
        match case:
            case {"text": str(text), "ids": list(ids)} if all(type(id_) is int for id_ in ids):
                read.append((text, ids))
            case _:
                raise ModelFormatError(f'{path}: case {number} is no {{"text": …, "ids": […]}}')
    specials = content.get("special_tokens", {})
    if not isinstance(specials, dict) or not all(type(id_) is int for id_ in specials.values()):
        raise ModelFormatError(f"{path}: special_tokens is no object of tokens to ids")
    return specials, read


def read_reference(path: Path) -> Samples:
    """The samples of the recorded run, mono and at the backend's rate."""
    if not path.is_file():
        raise ModelNotFoundError(f"no reference WAV at {path}")
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except soundfile.SoundFileError as error:
        raise ModelFormatError(f"cannot read {path} as audio: {error}") from error
    count, channels = samples.shape
    if rate != CONTRACT.sample_rate or channels != 1 or count == 0:
        raise ModelFormatError(
            f"the reference {path} has {count} samples in {channels} channels at {rate} Hz; "
            f"expected mono at {CONTRACT.sample_rate} Hz"
        )
    mono: Samples = samples[:, 0]
    if not np.isfinite(mono).all():
        raise ModelFormatError(f"the reference {path} holds NaN or infinite samples")
    return mono


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ModelNotFoundError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{path} is not JSON: {error}") from error
