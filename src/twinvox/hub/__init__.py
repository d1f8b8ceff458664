"""Published models: found on disk, else fetched once, verified, and found from then on.

A fetch takes all its files from one commit and checks each against the size and hash that the hub
declares. A receipt beside them keeps these, so that later nothing but the disk is asked: a file
that is cut short, replaced or of another commit is named and fetched again, never loaded.
"""

import fcntl
import shlex
import shutil
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from twinvox.errors import (
    DownloadError,
    ModelFormatError,
    ModelNotFoundError,
    ModelWarning,
)
from twinvox.hub.download import Listing, fetch, is_offline, listing, progress_bar
from twinvox.hub.manifest import Published, published
from twinvox.hub.places import (
    MODELS_DIR_ENV,
    HubCache,
    Place,
    PlainFolder,
    fluidaudio_folder,
    given_folder,
    structural_problems,
)
from twinvox.hub.receipt import Digest, Receipt, Record, matching

__all__ = [
    "HubCache",
    "Place",
    "PlainFolder",
    "check",
    "ensure",
    "find",
    "given_folder",
    "is_offline",
    "listing",
    "published",
    "pull",
    "pull_command",
    "remove",
    "verify",
]


def find(name: str, patterns: Sequence[str]) -> tuple[Path, dict[str, str]] | None:
    """Where a published model lies that is complete for ``patterns`` of paths, without a request.

    With the folder comes what is wrong with files in it, by path. None where it must be fetched.
    """
    model = published(name)
    place = HubCache.of(model.repository)
    receipt = _receipt(model, place)
    if receipt is not None and receipt.covers(patterns):
        root = place.root(receipt.commit)
        return root, receipt.problems(root, patterns)
    return _looked_at(fluidaudio_folder(name, patterns), patterns)


def _looked_at(folder: Path | None, patterns: Sequence[str]) -> tuple[Path, dict[str, str]] | None:
    """A folder whose sizes and hashes nobody has noted, and what can be seen to be wrong in it."""
    return None if folder is None else (folder, structural_problems(folder, patterns))


def ensure(name: str, patterns: Sequence[str], *, offline: bool = False) -> Path:
    """The folder of a published model, complete and sound for ``patterns`` of paths.

    What was fetched here or is in one of FluidAudio's folders is used without any request; what
    others have fetched to the hub's cache is compared with the hub's listing, or with ``offline``
    or ``HF_HUB_OFFLINE`` used where it looks sound. The rest is fetched, with a ModelWarning that
    names the files that were there but damaged; offline it is a ModelNotFoundError or a
    ModelFormatError. Raises DownloadError.
    """
    model = published(name)
    place = HubCache.of(model.repository)
    offline = offline or is_offline()
    found = find(name, patterns)
    if found is None and offline:  # what others have fetched, of which nothing was noted
        found = _looked_at(place.snapshot(model.revision, patterns), patterns)
    if found is not None and not found[1]:
        return found[0]
    if offline:
        if found is None:
            raise ModelNotFoundError(
                f"no folder with the {model.title} models is known, and fetching them is off "
                f"(offline); run: twinvox models pull {name}, give models_dir (--models-dir), or "
                f"set {MODELS_DIR_ENV} to a folder that holds {name}/"
            )
        raise ModelFormatError(f"{_listed(*found)}; run: {pull_command(name)}")
    if found is not None:
        message = f"{_listed(*found)}; fetching again"
        warnings.warn(message, ModelWarning, stacklevel=2)
    return pull(model, patterns, place)


def check(name: str, folder: Path, patterns: Sequence[str]) -> None:
    """Raise ModelFormatError where files fetched into ``folder`` are damaged since."""
    receipt = Receipt.read(PlainFolder(folder).receipt)
    damaged = receipt.problems(folder, patterns) if receipt else {}
    if damaged:
        raise ModelFormatError(f"{_listed(folder, damaged)}; run: {pull_command(name, folder)}")


def pull(
    model: Published, patterns: Sequence[str], place: Place, revision: str | None = None
) -> Path:
    """Bring the files that match to ``place`` at the commit ``revision`` stands for.

    By default that is the commit of the files fetched before, so that all stay of one; else these
    are brought to the new commit too. Returns their folder. Raises DownloadError.
    """
    if revision is None:
        receipt = _receipt(model, place)
        revision = receipt.commit if receipt else model.revision
    declared = listing(model.repository, revision)
    _check_pins(model, declared)
    wanted = _select(model, patterns, declared)
    old = Receipt.read(place.receipt)
    known = old.files if old and old.repository == model.repository else {}
    wanted |= {path: declared.files[path] for path in known if path in declared.files}
    root = place.root(declared.commit)
    records: dict[str, Record] = {}
    for path, digest in wanted.items():
        record, file = known.get(path), root / path
        if record is not None and record.digest == digest and not record.problem(file):
            records[path] = record
        elif not digest.problem(file):
            records[path] = Record.of(file, digest)
    missing = {path: digest for path, digest in wanted.items() if path not in records}
    n_bytes = sum(digest.size for digest in missing.values() if not place.holds(digest))
    _check_space(model, place, n_bytes)
    with progress_bar(n_bytes, model.title) as bar:
        for path, digest in missing.items():
            file = fetch(model.repository, declared.commit, path, digest, place, bar)
            records[path] = Record.of(file, digest)
    _keep(Receipt(model.repository, declared.commit, records), place)
    return root


def pull_command(name: str, folder: Path | None = None) -> str:
    """What to type to fetch a model, to a folder of the user's where one is given."""
    return shlex.join(
        ["twinvox", "models", "pull", name, *(["--models-dir", str(folder)] if folder else [])]
    )


def verify(place: Place) -> tuple[Receipt, dict[str, str]]:
    """Read every fetched file again: the receipt, and what is wrong with files, by path.

    From then on the damaged ones are not loaded. Raises ModelNotFoundError where nothing was
    fetched to ``place``.
    """
    receipt = _receipt_of(place).doubted()
    problems = receipt.problems(place.root(receipt.commit))
    if problems:
        receipt.write(place.receipt)
    return receipt, problems


def remove(place: Place) -> int:
    """Delete what was fetched to ``place``; returns the bytes freed.

    Raises ModelNotFoundError where nothing was.
    """
    receipt = _receipt_of(place)
    n_bytes = place.delete(receipt)
    for path in (place.receipt, place.receipt.with_suffix(".lock")):
        path.unlink(missing_ok=True)
    return n_bytes


def _receipt(model: Published, place: Place) -> Receipt | None:
    """The receipt of what was fetched, where this version of twinvox accepts its commit."""
    receipt = Receipt.read(place.receipt)
    fits = receipt and receipt.repository == model.repository and model.accepts(receipt.commit)
    return receipt if fits else None


def _receipt_of(place: Place) -> Receipt:
    receipt = Receipt.read(place.receipt)
    if receipt is None:
        raise ModelNotFoundError(f"nothing was fetched to {place.folder}; run: twinvox models list")
    return receipt


def _listed(folder: Path, problems: Mapping[str, str]) -> str:
    files = "; ".join(f"{path} {problem}" for path, problem in problems.items())
    return f"damaged files in {folder}: {files}"


def _check_pins(model: Published, declared: Listing) -> None:
    for path, digest in model.files.items():
        if declared.files.get(path) != digest:
            raise DownloadError(
                f"the hub declares {path} of {model.repository} as {declared.files.get(path)}, but "
                f"this version of twinvox expects {digest}; check HF_ENDPOINT"
            )


def _select(model: Published, patterns: Sequence[str], declared: Listing) -> dict[str, Digest]:
    by_pattern = {pattern: matching(pattern, declared.files) for pattern in patterns}
    absent = [pattern for pattern, paths in by_pattern.items() if not paths]
    if absent:
        raise DownloadError(
            f"{model.repository} at {declared.commit} has no {', '.join(absent)}; check the name, "
            "or whether a newer twinvox knows how it is laid out"
        )
    return {path: declared.files[path] for paths in by_pattern.values() for path in paths}


def _check_space(model: Published, place: Place, n_bytes: int) -> None:
    folder = next(path for path in (place.folder, *place.folder.parents) if path.is_dir())
    free = shutil.disk_usage(folder).free
    if free < n_bytes:
        raise DownloadError(
            f"the {model.title} models need {n_bytes / 1e9:.2f} GB more, and {free / 1e9:.2f} GB "
            f"are free at {folder}; free some, or choose another disk with HF_HOME or --models-dir"
        )


def _keep(receipt: Receipt, place: Place) -> None:
    """Write the receipt; another process may have added files of the same commit meanwhile."""
    try:
        place.folder.mkdir(parents=True, exist_ok=True)
        with place.receipt.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            other = Receipt.read(place.receipt)
            files = dict(receipt.files)
            if other and (other.repository, other.commit) == (receipt.repository, receipt.commit):
                files = {**other.files, **files}
            Receipt(receipt.repository, receipt.commit, files).write(place.receipt)
    except OSError as error:  # as in a cache that is shared and may only be read
        warnings.warn(
            f"cannot note in {place.receipt} that all is sound ({error.strerror}); the hub "
            "is asked and all is read again the next time",
            ModelWarning,
            stacklevel=4,
        )
