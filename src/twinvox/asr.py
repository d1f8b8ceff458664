"""Speech to text by faster-whisper (the extra ``asr``), which is imported when it is first used.

It writes the transcript of a prompt that comes without one, and hears what a benchmark has spoken.
"""

import importlib.util
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import soxr

from twinvox.audio import Samples
from twinvox.errors import ModelFormatError, ModelNotFoundError, RuntimeUnavailableError
from twinvox.hub.download import endpoint, explained, is_offline

Word = tuple[str, float, float]
"""A word with its start and end in seconds."""

DEFAULT_MODEL = "base"

SAMPLE_RATE = 16_000
"""Hz at which Whisper hears; other rates are resampled."""
_WEIGHTS = "model.bin"
_TOKENIZER = "tokenizer.json"  # faster-whisper fetches one by itself where it is not there
_SMALL_FILES = ["*.json", "vocabulary.txt"]
_REPOSITORY = re.compile(r"[\w.-]+(?<!\.)(/[\w.-]+)?")
# Whisper writes Mandarin in traditional or simplified characters; this asks for the latter.
_OPENINGS = {"zh": "以下是普通话的句子。"}


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was heard: the text, and each word's time where that was asked for."""

    text: str
    words: tuple[Word, ...] = ()


class Transcriber(Protocol):
    """What turns speech into text; `Whisper`, or anything else with its method."""

    def transcribe(
        self, samples: Samples, sample_rate: int, *, language: str, timed: bool = False
    ) -> Transcript:
        """The transcript of mono float32 [n]; with the time of every word where ``timed``."""
        ...


class Whisper:
    """A Whisper model on the CPU, in 8-bit weights.

    ``model`` is a folder in CTranslate2's layout, the name of a size ("tiny.en", "base", "small",
    …) or a repository of the hub. A model that is not in the hub's cache yet is fetched, not so
    ``offline``.
    Raises RuntimeUnavailableError where faster-whisper is not installed, ModelNotFoundError,
    DownloadError or ModelFormatError where the model cannot be had.
    """

    def __init__(
        self, model: str | PathLike[str] = DEFAULT_MODEL, *, offline: bool = False
    ) -> None:
        folder = find_model(model, offline=offline)
        try:
            from faster_whisper import WhisperModel
        except ImportError as error:
            raise RuntimeUnavailableError(
                f"faster-whisper cannot be imported ({error}): pip install -U 'twinvox[asr]'"
            ) from error
        try:
            self._model = WhisperModel(str(folder), device="cpu", compute_type="int8")
        except Exception as error:  # that of a damaged tokenizer.json is of this very class
            raise ModelFormatError(
                f"{folder} holds no Whisper model in CTranslate2's layout: {error}"
            ) from error

    def transcribe(
        self, samples: Samples, sample_rate: int, *, language: str, timed: bool = False
    ) -> Transcript:
        """The transcript of mono float32 [n] in ``language`` ("en", "zh"), always the same.

        Raises ValueError where the model knows only English and another language is asked for.
        """
        if language != "en" and not self._model.model.is_multilingual:
            raise ValueError(
                f"this Whisper model hears only English, not {language!r}; use one whose name has "
                "no .en"
            )
        if not samples.size:
            return Transcript("")
        heard = soxr.resample(samples, sample_rate, SAMPLE_RATE)
        segments, _ = self._model.transcribe(
            np.ascontiguousarray(heard, np.float32),
            language=language,
            temperature=0.0,
            condition_on_previous_text=False,
            initial_prompt=_OPENINGS.get(language),
            word_timestamps=timed,
        )
        pieces = list(segments)
        words = (word for piece in pieces for word in piece.words or ())
        return Transcript(
            "".join(piece.text for piece in pieces).strip(),
            tuple(_whole_words((word.word, float(word.start), float(word.end)) for word in words)),
        )


def _whole_words(pieces: Iterable[Word]) -> list[Word]:
    """Whisper splits at hyphens, with no space before what goes on: " cold", "-hearted"."""
    words: list[Word] = []
    for text, start, end in pieces:
        if words and not text.startswith(" "):
            before, start, _ = words.pop()
            text = before + text
        words.append((text.strip(), start, end))
    return words


def find_model(model: str | PathLike[str] = DEFAULT_MODEL, *, offline: bool = False) -> Path:
    """The folder of ``model``, fetched from the hub where it is a name; see `Whisper`.

    faster-whisper must be installed but is not imported.
    """
    if importlib.util.find_spec("faster_whisper") is None:
        raise RuntimeUnavailableError(
            "speech recognition needs faster-whisper: pip install 'twinvox[asr]'"
        )
    folder, name = Path(model), str(model)
    offline = offline or is_offline()
    if folder.is_dir():
        if not (folder / _WEIGHTS).is_file():
            raise ModelNotFoundError(
                f"no {_WEIGHTS} in {folder}; give the folder of a Whisper model"
            )
        if offline and not (folder / _TOKENIZER).is_file():
            raise ModelNotFoundError(
                f"no {_TOKENIZER} in {folder}, and fetching one is off (offline); copy that of the "
                "original model there"
            )
        return folder
    if not _REPOSITORY.fullmatch(name):
        raise ModelNotFoundError(
            f"no Whisper model at {name}; give its folder, or a name such as base or small"
        )
    repository = name if "/" in name else f"Systran/faster-whisper-{name}"
    return _fetch(repository, offline)


def _fetch(repository: str, offline: bool) -> Path:
    """The folder of a repository in the hub's cache, fetched where it is not complete there."""
    from huggingface_hub import snapshot_download
    from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        """Drawn on a terminal only."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options | {"disable": not sys.stderr.isatty()})

    find = partial(snapshot_download, repository, endpoint=endpoint(), tqdm_class=Bar)
    everything = [*_SMALL_FILES, _WEIGHTS]
    try:
        folder = Path(find(allow_patterns=everything, local_files_only=True))
        if (folder / _WEIGHTS).is_file() and (folder / _TOKENIZER).is_file():
            return folder
    except OSError:
        pass
    if offline:
        raise ModelNotFoundError(
            f"{repository} is not in the hub's cache, and fetching is off (offline); give the "
            "folder of a Whisper model"
        )
    with explained(repository):
        find(allow_patterns=_SMALL_FILES)  # so that where the weights are, all is
        return Path(find(allow_patterns=everything))
