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
from enum import IntEnum, IntFlag
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from twinvox._native import g2p
from twinvox.errors import ModelFormatError

MAGIC = b"TVLX"
VERSION = 1
HEADER = struct.Struct("<4sHHII")
DETAILS = 0x80


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
    BEFORE_HYPHEN = 12


class Flag(IntFlag):
    """What a word does to its neighbours."""

    EXPECTS_VERB = 1
    EXPECTS_VERB_S = 2
    EXPECTS_NOUN = 4
    EXPECTS_PAST = 8
    EXTENDS_VERB = 16
    STRESSED_TAIL = 32
    UNSTRESSED_TAIL = 64
    UNHEARD = 128
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

    ``native`` is what speaks whole clauses. Raises `ModelFormatError` when the file is not a
    lexicon of this version, or damaged.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        with Path(path).open("rb") as file:
            head = file.read(HEADER.size)
            if len(head) < HEADER.size:
                raise ModelFormatError(f"{path}: {len(head)} bytes are too few for a lexicon")
            blob = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self.native = g2p.Lexicon(blob)
        except ValueError as error:
            magic, version, *_ = HEADER.unpack(head)
            raise ModelFormatError(
                f"{path}: expected an undamaged lexicon of version {VERSION} ({MAGIC!r}), "
                f"found {magic!r} version {version}; reinstall twinvox"
            ) from error

    def __len__(self) -> int:
        return len(self.native)

    def find(self, key: str) -> Entry | None:
        """The entry of ``key`` (case-sensitive; a phrase has single spaces), None if absent."""
        found = self.native.find(key)
        return None if found is None else Entry(*found)
