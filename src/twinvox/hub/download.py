"""The conversation with the hub, through huggingface_hub; every failure is a DownloadError."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twinvox.errors import DownloadError
from twinvox.hub.places import Place
from twinvox.hub.receipt import COMMIT, Digest, is_inside

_DEFAULT_ENDPOINT = "https://huggingface.co"
_TIMEOUT_S = 30.0
_KEPT = "the files that have arrived whole are kept"


@dataclass(frozen=True, slots=True)
class Listing:
    """What the hub declares of a repository at one commit: digests by path."""

    commit: str
    files: Mapping[str, Digest]


def is_offline() -> bool:
    """Whether ``HF_HUB_OFFLINE`` forbids requests."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}


def endpoint() -> str:
    """``HF_ENDPOINT``, else the public hub."""
    return (os.environ.get("HF_ENDPOINT") or _DEFAULT_ENDPOINT).rstrip("/")


def listing(repository: str, revision: str) -> Listing:
    """Resolve ``revision`` to a commit and list its files, in one request.

    A path that leads out of its folder is a DownloadError, as is whatever else no hub declares.
    """
    from huggingface_hub import HfApi

    with explained(f"{repository} at {revision}"):
        info = HfApi(endpoint=endpoint()).model_info(
            repository, revision=revision, files_metadata=True, timeout=_TIMEOUT_S
        )
    try:
        files = {file.rfilename: _digest(file) for file in info.siblings or ()}
        wrong = [path for path in files if not is_inside(path)]
        if wrong or not COMMIT.fullmatch(str(info.sha)):
            raise ValueError(f"a file {wrong[0]!r}" if wrong else f"a commit {info.sha!r}")
    except (ValueError, TypeError) as error:
        raise DownloadError(
            f"{endpoint()} declares of {repository} what no hub does ({error}); check HF_ENDPOINT"
        ) from error
    return Listing(str(info.sha), files)


def _digest(file: Any) -> Digest:
    if file.lfs is not None:
        return Digest(file.lfs.size, "sha256", file.lfs.sha256)
    return Digest(file.size, "git", file.blob_id)


def fetch(repository: str, commit: str, file: str, digest: Digest, place: Place, bar: Any) -> Path:
    """Bring one file to its place and verify it; asks twice for one that arrives damaged.

    A file that is there but damaged is replaced.
    """
    from huggingface_hub import hf_hub_download

    target = place.root(commit) / file
    if target.exists():
        if digest.problem(target) is None:  # another process has fetched it meanwhile
            return target
        place.discard(target)
    for _ in range(2):
        with explained(f"{file} of {repository}"):
            arrived = hf_hub_download(
                repository,
                file,
                revision=commit,
                endpoint=endpoint(),
                tqdm_class=_forwarding(bar),
                cache_dir=place.cache_dir,
                local_dir=place.local_dir,
            )
        if not target.exists():
            raise DownloadError(
                f"the hub delivered {file} of {repository} at another commit than {commit}, "
                f"which was asked for ({arrived}); run the command again"
            )
        problem = digest.problem(target)
        if problem is None:
            return target
        place.discard(target)
    raise DownloadError(
        f"{file} of {repository} {problem}, asked twice; a proxy or mirror may be altering it: "
        f"check HF_ENDPOINT ({endpoint()}) and the network, then run the command again"
    )


@contextmanager
def progress_bar(total_bytes: int, what: str) -> Iterator[Any]:
    """One bar over all files, drawn on stderr where that is a terminal."""
    from tqdm import tqdm

    with tqdm(
        total=total_bytes,
        desc=what,
        unit="B",
        unit_scale=True,
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
    ) as bar:
        yield bar


def _forwarding(bar: Any) -> type:
    """A class for huggingface_hub to report one file's bytes to, which go to ``bar``."""

    class Forwarding:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        def __enter__(self) -> "Forwarding":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, n: float = 1) -> None:
            bar.update(n)

        def ignore(self, *_: object, **__: object) -> None:
            pass

        close = set_postfix_str = update_transfer = set_transfer_postfix_str = ignore

    return Forwarding


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn whatever huggingface_hub and its HTTP client raise into a DownloadError."""
    try:
        yield
    except Exception as error:  # the HTTP client, and so its errors, differ between versions
        raise DownloadError(f"cannot fetch {what}: {_explain(error)}") from error


def _explain(error: BaseException) -> str:
    causes = list(_chain(error))
    names = {type(cause).__name__ for cause in causes}
    for cause in causes:
        status = getattr(getattr(cause, "response", None), "status_code", None)
        if status is not None and status >= 400:
            return _explain_status(status, names)
    if "OfflineModeIsEnabled" in names:
        return "HF_HUB_OFFLINE is set; unset it to fetch"
    if names & {"JSONDecodeError", "FileMetadataError", "KeyError", "TypeError"}:
        return (
            f"{endpoint()} answered with something that is not the hub's, perhaps a login or "
            "proxy page; open it in a browser, or check HF_ENDPOINT and the proxy"
        )
    last = " ".join(str(causes[-1]).split()) or type(causes[-1]).__name__
    if "onsistency check failed" in str(error):
        return f"the connection ended early ({last}); run the command again: {_KEPT}"
    if isinstance(error, OSError) and error.errno is not None:
        return f"{error.strerror} ({error.filename}); {_KEPT}"
    return (
        f"no answer from {endpoint()} ({last}); check the network and run the command again: "
        f"{_KEPT}"
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _explain_status(status: int, names: set[str]) -> str:
    answer = f"the hub answered {status}"
    if "RevisionNotFoundError" in names:
        return f"{answer}: there is no such revision; a newer twinvox may know where it went"
    if status in (401, 403) or "GatedRepoError" in names:
        return (
            f"{answer}: the repository is private, gated or gone; accept its terms at "
            f"{endpoint()} and log in (hf auth login, or HF_TOKEN)"
        )
    if status == 404:
        return f"{answer}: it does not exist there; a newer twinvox may know where it went"
    if status == 429:
        return (
            f"{answer}: too many requests; wait some minutes or log in (HF_TOKEN), then run the "
            f"command again: {_KEPT}"
        )
    if status >= 500:
        return f"{answer}: the server has a fault; run the command again later: {_KEPT}"
    return answer
