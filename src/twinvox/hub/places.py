"""Where published models lie: the hub's cache, a folder of the user's, FluidAudio's folders."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from twinvox.errors import ModelFormatError
from twinvox.hub.receipt import Digest, Receipt, foreign

MODELS_DIR_ENV = "TWINVOX_MODELS_DIR"
FLUIDAUDIO = Path(".cache") / "fluidaudio" / "Models"


@dataclass(frozen=True, slots=True)
class HubCache:
    """The folder of one repository in huggingface_hub's cache."""

    folder: Path

    @classmethod
    def of(cls, repository: str) -> "HubCache":
        return cls(hub_cache() / f"models--{repository.replace('/', '--')}")

    @property
    def receipt(self) -> Path:
        return self.folder / "twinvox.json"

    def root(self, commit: str) -> Path:
        return self.folder / "snapshots" / commit

    @property
    def cache_dir(self) -> Path:
        return self.folder.parent

    @property
    def local_dir(self) -> None:
        return None

    def holds(self, digest: Digest) -> bool:
        """Whether the content is here, be it of another commit."""
        return (self.folder / "blobs" / digest.value).is_file()

    def delete(self, receipt: Receipt) -> int:
        """Delete the commit; content that another commit shares stays. Returns bytes freed."""
        from huggingface_hub import scan_cache_dir

        strategy = scan_cache_dir(self.cache_dir).delete_revisions(receipt.commit)
        strategy.execute()
        return int(strategy.expected_freed_size)


@dataclass(frozen=True, slots=True)
class PlainFolder:
    """A folder that holds one model in the published layout, at one commit at a time."""

    folder: Path

    @property
    def receipt(self) -> Path:
        return self.folder / ".twinvox.json"

    def root(self, commit: str) -> Path:
        return self.folder

    @property
    def cache_dir(self) -> Path:
        return hub_cache()

    @property
    def local_dir(self) -> Path:
        return self.folder

    def holds(self, digest: Digest) -> bool:
        return False

    def delete(self, receipt: Receipt) -> int:
        """Delete the fetched files and the folders they leave empty. Returns bytes freed."""
        n_bytes = 0
        for path in map(self.folder.joinpath, receipt.files):
            if path.is_file():
                n_bytes += path.stat().st_size
                path.unlink()
            self._remove_empty(path.parent)
        notes = self.folder / ".cache" / "huggingface"
        shutil.rmtree(notes, ignore_errors=True)
        self._remove_empty(notes.parent)
        return n_bytes

    def _remove_empty(self, folder: Path) -> None:
        while folder != self.folder and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent


Place = HubCache | PlainFolder


def given_folder(name: str, models_dir: str | PathLike[str] | None) -> Path | None:
    """The user's folder of a model: ``models_dir``, else ``$TWINVOX_MODELS_DIR/<name>``."""
    if models_dir is not None:
        return Path(models_dir)
    parent = os.environ.get(MODELS_DIR_ENV)
    return Path(parent) / name if parent else None


def hub_cache() -> Path:
    """huggingface_hub's cache, found as it does but without importing it."""
    variables = os.environ
    base = Path(variables.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    home = Path(variables.get("HF_HOME") or base)
    cache = variables.get("HF_HUB_CACHE") or variables.get("HUGGINGFACE_HUB_CACHE") or home / "hub"
    return Path(os.path.expandvars(cache)).expanduser()


def fluidaudio_folder(name: str, patterns: Sequence[str]) -> Path | None:
    """The folder in which FluidAudio keeps this model, where every pattern matches something."""
    folder = Path.home() / FLUIDAUDIO / name
    return folder if all(any(folder.glob(pattern)) for pattern in patterns) else None


def structural_problems(folder: Path, patterns: Sequence[str]) -> dict[str, str]:
    """What can be seen to be wrong without knowing the published sizes and hashes, by path."""
    found = {}
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        for file in path.rglob("*") if path.is_dir() else [path]:
            problem = _structural_problem(file) if file.is_file() else None
            if problem:
                found[str(file.relative_to(folder))] = problem
    return found


def _structural_problem(file: Path) -> str | None:
    from twinvox.mil.weights import WeightFile

    if not file.stat().st_size:
        return "is empty"
    problem = foreign(file)
    if problem is None and file.parent.name == "weights":
        try:
            WeightFile(file).check()
        except ModelFormatError as error:
            problem = f"is damaged ({error})"
    return problem
