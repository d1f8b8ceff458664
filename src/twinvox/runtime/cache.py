"""Translated graphs on disk, keyed by the content they come from."""

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import platformdirs

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
        digest.update(b"\0" + path.name.encode() + b"\0")
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


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
