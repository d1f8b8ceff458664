"""What was fetched: the files of one commit, and how each was when it was verified.

A receipt makes later checks possible without the network.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Literal

COMMIT = re.compile(r"[0-9a-f]{40}")

_CHUNK_BYTES = 1 << 20
_HASHES = {"sha256": re.compile(r"[0-9a-f]{64}"), "git": COMMIT}
_NEVER = -1  # no file's time
_FOREIGN_STARTS = {
    b"<!doctype": "is an HTML page",
    b"<html": "is an HTML page",
    b"version https://git-lfs": "is a Git LFS pointer",
}


@dataclass(frozen=True, slots=True)
class Digest:
    """Size in bytes and hash of a file's content, as the hub declares them.

    ``algorithm`` is "sha256" for large files, else "git", the SHA-1 of git's blob object.
    """

    size: int
    algorithm: Literal["sha256", "git"]
    value: str

    def __post_init__(self) -> None:
        size_is_one = type(self.size) is int and self.size >= 0
        if not (size_is_one and _HASHES[self.algorithm].fullmatch(self.value)):
            raise ValueError(f"{self} is not the size and hash of a file")

    def problem(self, path: Path) -> str | None:
        """In words, how the file at ``path`` is not the one described; None where it is."""
        if not path.is_file():
            return "is missing"
        size = path.stat().st_size
        if size == self.size and self._hash(path) == self.value:
            return None
        if size != self.size:
            return foreign(path) or f"has {size:,} bytes instead of {self.size:,}"
        return foreign(path) or "has other content than the published file"

    def _hash(self, path: Path) -> str:
        if self.algorithm == "sha256":
            with path.open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        digest = hashlib.sha1(b"blob %d\0" % self.size, usedforsecurity=False)
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
        return digest.hexdigest()


def foreign(path: Path) -> str | None:
    """What the file is instead of a model's: an HTML page, a Git LFS pointer."""
    with path.open("rb") as stream:
        start = stream.read(64).lstrip().lower()
    return next((what for mark, what in _FOREIGN_STARTS.items() if start.startswith(mark)), None)


@dataclass(frozen=True, slots=True)
class Record:
    """A verified file; ``mtime_ns`` tells later whether it was touched since."""

    digest: Digest
    mtime_ns: int

    @classmethod
    def of(cls, path: Path, digest: Digest) -> "Record":
        return cls(digest, path.stat().st_mtime_ns)

    def problem(self, path: Path) -> str | None:
        """As ``Digest.problem``, but reads the content only of a file touched since."""
        if path.is_file():
            status = path.stat()
            if (status.st_size, status.st_mtime_ns) == (self.digest.size, self.mtime_ns):
                return None
        return self.digest.problem(path)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The verified files of ``repository`` at ``commit``, by path."""

    repository: str
    commit: str
    files: Mapping[str, Record]

    def covers(self, patterns: Sequence[str]) -> bool:
        """Whether files for every pattern were fetched; a fetch records all of a pattern's."""
        return all(matching(pattern, self.files) for pattern in patterns)

    def problems(self, root: Path, patterns: Sequence[str] = ("*",)) -> dict[str, str]:
        """What is wrong with the files under ``root`` that match, by path."""
        paths = {path for pattern in patterns for path in matching(pattern, self.files)}
        found = {path: self.files[path].problem(root / path) for path in sorted(paths)}
        return {path: problem for path, problem in found.items() if problem}

    def doubted(self) -> "Receipt":
        """The receipt as if every file had been touched since it was verified."""
        files = {path: Record(record.digest, _NEVER) for path, record in self.files.items()}
        return Receipt(self.repository, self.commit, files)

    def write(self, path: Path) -> None:
        """Write the receipt; it appears whole or not at all."""
        content = json.dumps(asdict(self), indent=1, sort_keys=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=".partial-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(content)
            Path(partial).replace(path)
        except BaseException:
            Path(partial).unlink()
            raise

    @classmethod
    def read(cls, path: Path) -> "Receipt | None":
        """The receipt at ``path``; None where there is none that can be read."""
        try:
            content = json.loads(path.read_bytes())
            files = {
                name: Record(Digest(**record["digest"]), record["mtime_ns"])
                for name, record in content["files"].items()
            }
            if not COMMIT.fullmatch(content["commit"]) or not all(map(is_inside, files)):
                return None
            return cls(content["repository"], content["commit"], files)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def is_inside(path: str) -> bool:
    """Whether ``path`` names a file below the folder that it starts from."""
    parts = PurePosixPath(path).parts
    return path == "/".join(parts) != "" and ".." not in parts


def matching(pattern: str, paths: Mapping[str, object]) -> list[str]:
    """The paths that ``pattern`` matches; its * also matches slashes."""
    return [path for path in paths if fnmatchcase(path, pattern)]
