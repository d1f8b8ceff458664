"""Phonemes to the token ids of a LuxTTS ``tokens.txt``."""

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from twinvox.errors import ModelFormatError, ModelNotFoundError

_NONE = -1


class IpaTokenizer:
    """Maps every Unicode scalar of an IPA string to its id; immutable, shared by threads."""

    def __init__(self, ids: dict[str, int]) -> None:
        self._size = len(ids)
        scalars = {ord(symbol): token for symbol, token in ids.items() if len(symbol) == 1}
        self._ids = np.full(max(scalars, default=0) + 2, _NONE, np.int32)  # the last is for others
        for scalar, token in scalars.items():
            self._ids[scalar] = token

    def __len__(self) -> int:
        return self._size

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "IpaTokenizer":
        """Read ``symbol TAB id`` lines (UTF-8; the symbol may be a space).

        Raises `ModelNotFoundError` when the file is missing, `ModelFormatError` naming the line
        that is malformed or repeats a symbol or an id.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise ModelNotFoundError(
                f"cannot read the token table {path}: {error.strerror}"
            ) from error
        try:
            lines = data.decode("utf-8").split("\n")
        except UnicodeDecodeError as error:
            number = data.count(b"\n", 0, error.start) + 1
            raise ModelFormatError(f"{path}, line {number}: not UTF-8 text") from error
        ids: dict[str, int] = {}
        owners: dict[int, str] = {}
        for number, line in enumerate(lines, 1):
            line = line.removesuffix("\r")
            if not line:
                continue
            symbol, tab, text = line.partition("\t")
            if not symbol or not tab or not (text.isascii() and text.isdigit()):
                raise ModelFormatError(
                    f"{path}, line {number}: expected 'symbol TAB id', found {line!r}"
                )
            token = int(text)
            if symbol in ids or token in owners:
                raise ModelFormatError(
                    f"{path}, line {number}: {symbol!r} = {token} repeats "
                    f"{owners.get(token, symbol)!r} = {ids.get(symbol, token)}; "
                    f"symbols and ids must be unique"
                )
            ids[symbol] = token
            owners[token] = symbol
        if not ids:
            raise ModelFormatError(f"{path}: expected 'symbol TAB id' lines, the file is empty")
        return cls(ids)

    def encode(self, phonemes: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """The ids [n] int32 of ``phonemes``, and the distinct scalars that have none, in order."""
        if not phonemes:
            return np.zeros(0, np.int32), ()
        scalars = np.frombuffer(phonemes.encode("utf-32-le", "surrogatepass"), "<u4")
        ids = self._ids.take(scalars, mode="clip")
        if np.minimum.reduce(ids) != _NONE:
            return ids, ()
        known = ids != _NONE
        skipped = dict.fromkeys(map(chr, scalars[~known].tolist()))
        return ids[known], tuple(skipped)
