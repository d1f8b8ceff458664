"""The pronunciation lexicon: one read-only blob of front-coded keys and byte-coded phonemes.

Layout (little endian), written by ``tools/lexicon/build.py``:

====================  ==========================================================================
magic ``TVLX``        4 bytes
version, block size   2 x uint16
entries, blocks       2 x uint32
code table            256 x (uint8 length, UTF-8 bytes): the phonemes one value byte stands for
block offsets         blocks x uint32, from the start of the blob
blocks                each ``block size`` entries in byte order of their keys
====================  ==========================================================================

An entry is ``shared length, suffix length, suffix, head, codes``: the key repeats ``shared``
bytes of the key before it, ``head & 0x7f`` counts the codes, ``head & 0x80`` says that
``flags (uint16), count, count x (context, length, codes)`` follow.
"""

import mmap
import struct
from bisect import bisect_right
from enum import IntEnum, IntFlag
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from twinvox.errors import ModelFormatError

MAGIC = b"TVLX"
VERSION = 1
HEADER = struct.Struct("<4sHHII")
DETAILS = 0x80
CACHE_LIMIT = 50_000


class Context(IntEnum):
    """Where a word stands, as far as its sound depends on it; MID is every entry's base form."""

    MID = 0
    END = 1
    TAIL = 2
    FIRST = 3
    ALONE = 4
    VERB = 5
    VERB_S = 6
    NOUN = 7
    PAST = 8
    BEFORE_VOWEL = 9
    AFTER_WEAK = 10
    BEFORE_R = 11


class Flag(IntFlag):
    """What a word does to its neighbours."""

    EXPECTS_VERB = 1
    EXPECTS_VERB_S = 2
    EXPECTS_NOUN = 4
    EXPECTS_PAST = 8
    EXTENDS_VERB = 16
    STRESSED_TAIL = 32
    UNSTRESSED_TAIL = 64
    OPENS_PHRASE = 512
    PAUSES = 1024
    AT_END = 2048


class Entry(NamedTuple):
    """One pronunciation: the base form, its flags, and the forms that differ by context."""

    base: str
    flags: int = 0
    forms: dict[int, str] | None = None

    def form(self, context: int) -> str | None:
        """The form stored for ``context``, None where the base holds."""
        return self.forms.get(context) if self.forms else None


class Lexicon:
    """A lexicon file, mapped into memory and safe to share between threads.

    Raises `ModelFormatError` when the file is not a lexicon of this version.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        with Path(path).open("rb") as file:
            self._blob = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        blob = self._blob
        if len(blob) < HEADER.size:
            raise ModelFormatError(f"{path}: {len(blob)} bytes are too few for a lexicon")
        magic, version, _, count, blocks = HEADER.unpack_from(blob, 0)
        if magic != MAGIC or version != VERSION:
            raise ModelFormatError(
                f"{path}: expected a lexicon of version {VERSION} ({MAGIC!r}), "
                f"found {magic!r} version {version}; reinstall twinvox"
            )
        self._count = int(count)
        at = HEADER.size
        self._codes: list[str] = []
        for _ in range(256):
            length = blob[at]
            self._codes.append(blob[at + 1 : at + 1 + length].decode())
            at += 1 + length
        self._blocks = range(blocks)
        self._offsets: tuple[int, ...] = (*struct.unpack_from(f"<{blocks}I", blob, at), len(blob))
        self._cache: dict[str, Entry | None] = {}

    def __len__(self) -> int:
        return self._count

    def find(self, key: str) -> Entry | None:
        """The entry of ``key`` (case-sensitive; a phrase has single spaces), None if absent."""
        try:
            return self._cache[key]
        except KeyError:
            pass
        entry = self._search(key.encode())
        if len(self._cache) < CACHE_LIMIT:
            self._cache[key] = entry
        return entry

    def _first_key(self, block: int) -> bytes:
        at = self._offsets[block]
        return self._blob[at + 2 : at + 2 + self._blob[at + 1]]

    def _search(self, key: bytes) -> Entry | None:
        block = bisect_right(self._blocks, key, key=self._first_key) - 1
        if block < 0:
            return None
        blob, at, end = self._blob, self._offsets[block], self._offsets[block + 1]
        current = b""
        while at < end:
            suffix = at + 2 + blob[at + 1]
            current = current[: blob[at]] + blob[at + 2 : suffix]
            if current == key:
                return self._entry(suffix)
            if current > key:
                return None
            at = self._skip(suffix)
        return None

    def _skip(self, at: int) -> int:
        blob = self._blob
        head = blob[at]
        at += 1 + (head & ~DETAILS)
        if head & DETAILS:
            count = blob[at + 2]
            at += 3
            for _ in range(count):
                at += 2 + blob[at + 1]
        return at

    def _entry(self, at: int) -> Entry:
        blob = self._blob
        head = blob[at]
        start = at + 1
        at = start + (head & ~DETAILS)
        base = self._decode(start, at)
        if not head & DETAILS:
            return Entry(base)
        flags, count = struct.unpack_from("<HB", blob, at)
        at += 3
        forms = {}
        for _ in range(count):
            context, length = blob[at], blob[at + 1]
            forms[context] = self._decode(at + 2, at + 2 + length)
            at += 2 + length
        return Entry(base, flags, forms or None)

    def _decode(self, start: int, stop: int) -> str:
        codes = self._codes
        return "".join(codes[b] for b in self._blob[start:stop])
