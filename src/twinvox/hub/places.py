"""Where published models lie: the hub's cache, a folder of the user's, FluidAudio's folders."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from twinvox.errors import ModelFormatError
from twinvox.hub.receipt import COMMIT, Digest, Receipt, foreign

MODELS_DIR_ENV = "TWINVOX_MODELS_DIR"
FLUIDAUDIO = Path(".cache") / "fluidaudio" / "Models"
_MODEL_PARTS = ("model.mil", "weights/weight.bin")  # of every published model
_NOTES_OWN = {".gitignore", "CACHEDIR.TAG"}  # what huggingface_hub puts beside its notes


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

    def snapshot(self, revision: str, patterns: Sequence[str]) -> Path | None:
        """The folder of a commit, or of the one that a branch led to, whoever fetched it, where
        every pattern matches something."""
        try:
            commit = (self.folder / "refs" / revision).read_text().strip()
        except OSError:
            commit = revision
        root = self.root(commit)
        return root if COMMIT.fullmatch(commit) and _has_all(root, patterns) else None

    @property
    def cache_dir(self) -> Path:
        return self.folder.parent

    @property
    def local_dir(self) -> None:
        return None

    def holds(self, digest: Digest) -> bool:
        """Whether the content is here, be it of another commit."""
        return (self.folder / "blobs" / digest.value).is_file()

    def discard(self, file: Path) -> None:
        """Remove a damaged file, and the content that it links to."""
        content = file.resolve()
        file.unlink(missing_ok=True)
        if self._owns(content):
            content.unlink(missing_ok=True)

    def delete(self, receipt: Receipt) -> int:
        """Delete the files of the receipt. Returns bytes freed.

        What others have fetched of the commit stays, as does content that another file links to.
        """
        root, snapshots = self.root(receipt.commit), self.folder / "snapshots"
        sizes = {}
        for file in map(root.joinpath, receipt.files):
            content = file.resolve()
            if file.is_file() and (self._owns(content) or not file.is_symlink()):
                sizes[content] = content.stat().st_size
            file.unlink(missing_ok=True)
            _remove_empty(file.parent, snapshots)
        for file in snapshots.rglob("*"):
            sizes.pop(file.resolve(), None)
        for content in sizes:
            content.unlink(missing_ok=True)
        for record in receipt.files.values():
            for partial in (self.folder / "blobs").glob(f"{record.digest.value}.*incomplete"):
                partial.unlink(missing_ok=True)  # of a process that was killed
        for ref in (self.folder / "refs").rglob("*"):
            if not root.exists() and ref.is_file() and ref.read_text() == receipt.commit:
                ref.unlink()
        if not any(snapshots.glob("*")):
            shutil.rmtree(self.folder)
        return sum(sizes.values())

    def _owns(self, content: Path) -> bool:
        return content.parent == (self.folder / "blobs").resolve()


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

    def discard(self, file: Path) -> None:
        """Remove a damaged file; what it links to is not ours."""
        file.unlink(missing_ok=True)

    def delete(self, receipt: Receipt) -> int:
        """Delete the fetched files and the folders they leave empty. Returns bytes freed.

        huggingface_hub keeps a note of each file that it brings to a folder. A file without one was
        there before, found to be the published one, and stays.
        """
        n_bytes = 0
        notes = self.folder / ".cache" / "huggingface"
        for path, record in receipt.files.items():
            file, note = self.folder / path, notes / "download" / f"{path}.metadata"
            if not note.is_file():
                continue
            if file.is_file():
                n_bytes += file.stat().st_size
                file.unlink()
            for partial in note.parent.glob(f"*.{record.digest.value}.*incomplete"):
                partial.unlink(missing_ok=True)  # of a process that was killed
            note.unlink()
            note.with_suffix(".lock").unlink(missing_ok=True)
            _remove_empty(file.parent, self.folder)
            _remove_empty(note.parent, notes)
        if notes.is_dir() and {file.name for file in notes.iterdir()} <= _NOTES_OWN:
            shutil.rmtree(notes)
            _remove_empty(notes.parent, self.folder)
        return n_bytes


def _remove_empty(folder: Path, top: Path) -> None:
    """Remove ``folder`` and those above it that are empty, up to ``top``, which stays."""
    while folder != top and folder.is_dir() and not any(folder.iterdir()):
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
    return folder if _has_all(folder, patterns) else None


def _has_all(folder: Path, patterns: Sequence[str]) -> bool:
    return all(any(folder.glob(pattern)) for pattern in patterns)


def structural_problems(folder: Path, patterns: Sequence[str]) -> dict[str, str]:
    """What can be seen to be wrong without knowing the published sizes and hashes, by path."""
    found = {}
    paths = {path for pattern in patterns for path in folder.glob(pattern)}
    for model in sorted({path.parent for path in paths if path.parent.suffix == ".mlmodelc"}):
        for file in (model / part for part in _MODEL_PARTS):
            if not file.is_file():
                found[str(file.relative_to(folder))] = "is missing"
    for path in sorted(paths):
        for file in path.rglob("*") if path.is_dir() else [path]:
            problem = _structural_problem(file) if file.is_file() else None
            if problem:
                found[str(file.relative_to(folder))] = problem
    return found


def _structural_problem(file: Path) -> str | None:
    from safetensors import SafetensorError, safe_open

    from twinvox.mil.weights import WeightFile

    if not file.stat().st_size:
        return "is empty"
    problem = foreign(file)
    try:
        if problem is None and file.parent.name == "weights":
            WeightFile(file).check()
        if problem is None and file.suffix == ".safetensors":
            with safe_open(file, "numpy"):  # compares the size with its header
                pass
    except (ModelFormatError, SafetensorError) as error:
        problem = f"is damaged ({error})"
    return problem
