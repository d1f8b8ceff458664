"""What a benchmark speaks: lists of our own, MiniMax's, or a file.

A file holds one phrase a line. ``[name]`` on a line begins a category, ``#`` a comment.
"""

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from twinvox.errors import DownloadError, TwinvoxError
from twinvox.hub.download import endpoint, explained

OWN = ("english", "mandarin")
MINIMAX = ("minimax-english", "minimax-chinese")
CORPORA = OWN + MINIMAX

_OWN_FOLDER = Path(str(resources.files("twinvox"))) / "data" / "bench"
_REPOSITORY = "MiniMaxAI/TTS-Multilingual-Test-Set"
_REVISION = "cb416f0ac3658da0577e97873065e19fe6488917"  # the one FluidAudio's numbers are of
_LICENCE = "CC-BY-SA-4.0"
_PHRASES = 100  # in each of its languages
_HEADING = re.compile(r"\[([^][]+)\]")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text to speak, and the kind of text it is."""

    category: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """``source`` says where it is from and under which licence it may be used."""

    name: str
    source: str
    phrases: tuple[Phrase, ...]

    def first(self, limit: int) -> "Corpus":
        """The corpus with at most ``limit`` phrases of each category."""
        if limit < 1:
            raise ValueError(f"limit is {limit}; expected at least 1 phrase of each category")
        kept: list[Phrase] = []
        for phrase in self.phrases:
            if sum(other.category == phrase.category for other in kept) < limit:
                kept.append(phrase)
        return Corpus(self.name, self.source, tuple(kept))


def load_corpus(name: str, *, offline: bool = False) -> Corpus:
    """The corpus called ``name``; MiniMax's are fetched once, into the hub's cache.

    Raises ValueError for another name, DownloadError where it cannot be fetched, which it is not
    ``offline``.
    """
    if name in OWN:
        path = _OWN_FOLDER / f"{name}.txt"
        return Corpus(name, "twinvox, Apache-2.0", _parse(_read(path), category=name))
    if name not in MINIMAX:
        raise ValueError(f"corpus is {name!r}; expected one of {', '.join(CORPORA)}")
    return _fetch(name, f"text/{name.removeprefix('minimax-')}.txt", offline)


def read_corpus(path: Path) -> Corpus:
    """The corpus in a file. Raises TwinvoxError where it is not text or holds no phrase."""
    phrases = _parse(_read(path), category=path.stem)
    if not phrases:
        raise TwinvoxError(f"{path} holds no phrase; write one a line")
    return Corpus(path.name, str(path), phrases)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TwinvoxError(f"{path} is not UTF-8 text: {error}") from error


def _parse(text: str, category: str) -> tuple[Phrase, ...]:
    phrases = []
    for line in map(str.strip, text.splitlines()):
        if heading := _HEADING.fullmatch(line):
            category = heading[1].strip()
        elif line and not line.startswith("#"):
            phrases.append(Phrase(category, line))
    return tuple(phrases)


def _fetch(name: str, file: str, offline: bool) -> Corpus:
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    kept = try_to_load_from_cache(_REPOSITORY, file, repo_type="dataset", revision=_REVISION)
    if offline and not isinstance(kept, str):
        raise DownloadError(f"{name} is not in the hub's cache, and fetching is off (--offline)")
    with explained(f"{file} of {_REPOSITORY}"):
        path = hf_hub_download(
            _REPOSITORY, file, repo_type="dataset", revision=_REVISION, endpoint=endpoint()
        )
    # Each line is the name of a speaker, "|" and the text.
    rows = [line.partition("|") for line in _read(Path(path)).splitlines() if line.strip()]
    phrases = tuple(Phrase(name, text.strip()) for _, _, text in rows if text.strip())
    if len(phrases) != len(rows) or len(phrases) != _PHRASES:
        raise DownloadError(
            f"{path} has {len(rows)} lines, {len(phrases)} of them with a text; expected "
            f"{_PHRASES} of the form speaker|text: delete it and run the command again"
        )
    return Corpus(name, f"{_REPOSITORY} at {_REVISION[:7]}, {_LICENCE}", phrases)
