"""Translated graphs on disk, keyed by the content they come from."""

import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import platformdirs

_LARGE_BYTES = 1 << 24
_SETTLED_NS = 2_000_000_000
_DIGEST_BYTES = hashlib.sha256().digest_size
_log = logging.getLogger("twinvox")


def cache_dir() -> Path:
    """``TWINVOX_CACHE_DIR`` or the platform's cache folder for twinvox."""
    chosen = os.environ.get("TWINVOX_CACHE_DIR")
    return Path(chosen) if chosen else platformdirs.user_cache_path("twinvox")


def content_key(files: Iterable[Path], *salt: str) -> str:
    """A hex digest of the files' contents and names and of ``salt``."""
    digest = hashlib.sha256("\0".join(salt).encode())
    for path in files:
        digest.update(b"\0" + path.name.encode() + b"\0" + _file_digest(path))
    return digest.hexdigest()


def _file_digest(path: Path) -> bytes:
    """The SHA-256 of the file; of a large one it is remembered until the file changes."""
    status = path.stat()
    if status.st_size < _LARGE_BYTES:
        return _hash_file(path)
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    key = hashlib.sha256(repr((str(path.resolve()), state)).encode()).hexdigest()
    if time.time_ns() - changed < _SETTLED_NS:  # a later write might not move the times
        return _hash_file(path)
    return cached(f"digest-{key}", lambda: _hash_file(path))


def _hash_file(path: Path) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def cached(key: str, build: Callable[[], bytes]) -> bytes:
    """The bytes stored under ``key``; built and stored when absent or damaged.

    Several processes may do so at once: an entry appears whole or not at all. Where the folder
    cannot be written the bytes are built each time, with a warning in the log.
    """
    entry = cache_dir() / "graphs" / key
    try:
        stored = entry.read_bytes()
    except OSError:
        stored = b""
    digest, content = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
    if content and hashlib.sha256(content).digest() == digest:
        return content
    content = build()
    try:
        _store(entry, hashlib.sha256(content).digest() + content)
    except OSError as error:
        _log.warning("cannot store the translated graph in %s: %s", entry.parent, error)
    return content


def _store(entry: Path, data: bytes) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=entry.parent, prefix=".partial-")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        partial.replace(entry)
    except BaseException:
        partial.unlink()
        raise
