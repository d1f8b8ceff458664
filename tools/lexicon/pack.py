"""Write entries as the front-coded blob that `twinvox.text.g2p.lexicon` reads."""

import struct
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from twinvox.text.g2p.lexicon import DETAILS, HEADER, MAGIC, VERSION, Entry

BLOCK = 16
CODES = 256
SAMPLE = 15


def pack(entries: dict[str, Entry]) -> bytes:
    """The whole file for ``entries``; the same entries give the same bytes."""
    items = sorted((key.encode(), entry) for key, entry in entries.items())
    table = _code_table(entry.base for _, entry in items)
    encoder = _Encoder(table)
    blocks = []
    for start in range(0, len(items), BLOCK):
        block, before = bytearray(), b""
        for key, entry in items[start : start + BLOCK]:
            shared = 0
            while shared < min(len(key), len(before)) and key[shared] == before[shared]:
                shared += 1
            block += bytes((shared, len(key) - shared)) + key[shared:]
            block += _value(entry, encoder)
            before = key
        blocks.append(bytes(block))
    codes = b"".join(bytes((len(c.encode()),)) + c.encode() for c in table)
    head = HEADER.pack(MAGIC, VERSION, BLOCK, len(items), len(blocks))
    at = len(head) + len(codes) + 4 * len(blocks)
    offsets = []
    for block in blocks:
        offsets.append(at)
        at += len(block)
    return head + codes + struct.pack(f"<{len(blocks)}I", *offsets) + b"".join(blocks)


def _value(entry: Entry, encoder: "_Encoder") -> bytes:
    codes = encoder.encode(entry.base)
    if len(codes) >= DETAILS:
        raise ValueError(f"{entry.base!r} is too long for one entry")
    if not entry.flags and not entry.forms:
        return bytes((len(codes),)) + codes
    forms = sorted((entry.forms or {}).items())
    out = bytes((len(codes) | DETAILS,)) + codes + struct.pack("<HB", entry.flags, len(forms))
    for context, form in forms:
        coded = encoder.encode(form)
        out += bytes((context, len(coded))) + coded
    return out


def _code_table(strings: Iterable[str]) -> list[str]:
    """Single phonemes, then the most useful longer pieces (byte pair merges)."""
    strings = list(strings)
    singles = sorted({char for string in strings for char in string} | set(" ˈˌː"))
    pieces = [tuple(string) for string in strings[:: SAMPLE if len(strings) > 10_000 else 1]]
    table = list(singles)
    while len(table) < CODES:
        pairs = Counter(pair for piece in pieces for pair in pairwise(piece))
        if not pairs:
            table.append("")
            continue
        (left, right), _ = min(pairs.items(), key=lambda item: (-item[1], item[0]))
        if left + right not in table:
            table.append(left + right)
        pieces = [_merge(piece, left, right) for piece in pieces]
    return table


def _merge(piece: tuple[str, ...], left: str, right: str) -> tuple[str, ...]:
    if left not in piece:
        return piece
    out: list[str] = []
    for symbol in piece:
        if symbol == right and out and out[-1] == left:
            out[-1] = left + right
        else:
            out.append(symbol)
    return tuple(out)


class _Encoder:
    def __init__(self, table: list[str]) -> None:
        self._codes = {piece: code for code, piece in enumerate(table) if piece}
        self._longest = max(map(len, table))

    def encode(self, text: str) -> bytes:
        best: list[tuple[int, int]] = [(0, 0)]
        for end in range(1, len(text) + 1):
            options = (
                (best[end - n][0] + 1, n)
                for n in range(1, min(self._longest, end) + 1)
                if text[end - n : end] in self._codes
            )
            best.append(min(options))
        out, end = [], len(text)
        while end:
            length = best[end][1]
            out.append(self._codes[text[end - length : end]])
            end -= length
        return bytes(reversed(out))
