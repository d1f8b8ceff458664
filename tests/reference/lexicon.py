"""The lexicon file read entry by entry, in the plainest way."""

import struct
from collections.abc import Iterator

HEADER = struct.Struct("<4sHHII")
DETAILS = 0x80

Entry = tuple[str, int, dict[int, str] | None]


def entries(blob: bytes) -> Iterator[tuple[str, Entry]]:
    """Every key of a lexicon with its base form, flags and other forms, in the file's order."""
    magic, version, _, _, blocks = HEADER.unpack_from(blob, 0)
    assert (magic, version) == (b"TVLX", 1)
    at, codes = HEADER.size, []
    for _ in range(256):
        codes.append(blob[at + 1 : at + 1 + blob[at]].decode())
        at += 1 + blob[at]
    offsets = [*struct.unpack_from(f"<{blocks}I", blob, at), len(blob)]

    def decode(start: int, size: int) -> str:
        return "".join(codes[byte] for byte in blob[start : start + size])

    for block in range(blocks):
        at, key = offsets[block], b""
        while at < offsets[block + 1]:
            shared, size = blob[at], blob[at + 1]
            key = key[:shared] + blob[at + 2 : at + 2 + size]
            at += 2 + size
            head = blob[at]
            n_codes = head & ~DETAILS
            base = decode(at + 1, n_codes)
            at += 1 + n_codes
            flags, forms = 0, {}
            if head & DETAILS:
                flags, count = struct.unpack_from("<HB", blob, at)
                at += 3
                for _ in range(count):
                    forms[blob[at]] = decode(at + 2, blob[at + 1])
                    at += 2 + blob[at + 1]
            yield key.decode(), (base, flags, forms or None)
