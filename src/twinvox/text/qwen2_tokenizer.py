"""Text to the token ids of Qwen2, with the special tokens of CosyVoice3, and back."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar
from unicodedata import normalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinvox._native.bpe import BytePairEncoder
from twinvox.errors import ModelFormatError, ModelNotFoundError, TextError

# Qwen2's own special tokens; their ids follow those of the vocabulary in this order.
QWEN2_SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MAX_SPECIAL_BYTES = 255

_Parsed = TypeVar("_Parsed")


class Qwen2Tokenizer:
    """Byte-level BPE of text in NFC; immutable, shared by threads.

    ``special_tokens`` are all that a text may contain literally: Qwen2's three and those of the
    special-tokens file. What else ``tokenizer_config.json`` adds is not read, for the added tokens
    of Qwen2.5 have the ids that CosyVoice3 gives to its own.
    """

    def __init__(self, encoder: BytePairEncoder, special_tokens: Mapping[str, int]) -> None:
        """``encoder`` must not have special tokens yet; these are set here."""
        encoder.set_specials({token.encode(): id_ for token, id_ in special_tokens.items()})
        self._encoder = encoder
        self.special_tokens = MappingProxyType(dict(special_tokens))
        longest_first = sorted(special_tokens, key=len, reverse=True)
        self.special_pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        """Matches each special token, the longest first."""

    @classmethod
    def load(
        cls,
        tokenizer_dir: str | PathLike[str],
        special_tokens_file: str | PathLike[str] | None = None,
    ) -> Self:
        """Read ``vocab.json`` and ``merges.txt`` of a folder, or else its one ``.tiktoken`` file.

        The special tokens are those of ``special_tokens_file``, by default the folder's
        ``special_tokens.json``: an object of tokens to ids, or one with such an object as its
        ``special_tokens``.

        Raises `ModelNotFoundError` for what is missing, `ModelFormatError` for what is damaged.
        """
        folder = Path(tokenizer_dir)
        vocab, merges = folder / "vocab.json", folder / "merges.txt"
        tiktoken = sorted(folder.glob("*.tiktoken"))
        if vocab.is_file() and merges.is_file():
            encoder = _parse(vocab, lambda data: BytePairEncoder(data, tiktoken=False))
            _parse(merges, encoder.check_merges)
        elif len(tiktoken) == 1 and not vocab.is_file() and not merges.is_file():
            encoder = _parse(tiktoken[0], lambda data: BytePairEncoder(data, tiktoken=True))
        else:
            found = [path.name for path in (vocab, merges, *tiktoken) if path.is_file()]
            raise ModelNotFoundError(
                f"no tokenizer in {folder}: expected vocab.json and merges.txt, or one .tiktoken "
                f"file; found {', '.join(found) or 'none of them'}"
            )
        specials = Path(special_tokens_file or folder / "special_tokens.json")
        return cls(encoder, _parse(specials, lambda data: _read_specials(data, len(encoder))))

    def __len__(self) -> int:
        """One more than the highest id."""
        return max([len(self._encoder) - 1, *self.special_tokens.values()]) + 1

    def encode(self, text: str) -> NDArray[np.int32]:
        """The ids [n] of ``text``.

        Special tokens are found as the text has them, the first one first and of several there the
        longest; what lies between them is brought to NFC and merged.

        Raises `TextError` for surrogates, which no text encoding has.
        """
        try:
            ids = self._encoder.encode(text, True)
        except UnicodeEncodeError as error:
            raise _no_text(error) from error
        return self._encode_parts(text) if ids is None else ids

    def encode_ordinary(self, text: str) -> NDArray[np.int32]:
        """As `encode`, but special tokens are text like any other."""
        try:
            ids = self._encoder.encode(text, False)
            return self._encoder.encode_normalized(normalize("NFC", text)) if ids is None else ids
        except UnicodeEncodeError as error:
            raise _no_text(error) from error

    def encode_batch(self, texts: Sequence[str], threads: int = 1) -> list[NDArray[np.int32]]:
        """`encode` of every text, on so many threads."""
        if threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        size = max(-(-len(texts) // threads), 1)
        chunks = [tuple(texts[start : start + size]) for start in range(0, len(texts), size)]
        if len(chunks) <= 1:
            return [ids for chunk in chunks for ids in self._encode_chunk(chunk)]
        with ThreadPoolExecutor(threads) as pool:
            return [ids for chunk in pool.map(self._encode_chunk, chunks) for ids in chunk]

    def _encode_chunk(self, texts: tuple[str, ...]) -> list[NDArray[np.int32]]:
        try:
            many = self._encoder.encode_batch(texts, True)
        except UnicodeEncodeError as error:
            raise _no_text(error) from error
        return [
            self._encode_parts(text) if ids is None else ids
            for text, ids in zip(texts, many, strict=True)
        ]

    def _encode_parts(self, text: str) -> NDArray[np.int32]:
        """`encode` of text that may not be in NFC."""
        ids = []
        start = 0
        for special in self.special_pattern.finditer(text):
            between = normalize("NFC", text[start : special.start()])
            ids.append(self._encoder.encode_normalized(between))
            ids.append(np.array([self.special_tokens[special[0]]], np.int32))
            start = special.end()
        ids.append(self._encoder.encode_normalized(normalize("NFC", text[start:])))
        return np.concatenate(ids)

    def decode_bytes(self, ids: ArrayLike) -> bytes:
        """The bytes of ``ids`` [n], special tokens included.

        Raises TypeError for what is no array of whole numbers, ValueError for an unknown id.
        """
        array = np.asarray(ids)
        if array.size == 0:
            return b""
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise TypeError(
                f"ids must be whole numbers with one axis, got {array.dtype} {list(array.shape)}"
            )
        if array.max() >= len(self):
            raise ValueError(f"no token has the id {array.max()}")
        return self._encoder.decode(np.ascontiguousarray(array, np.int32))

    def decode(self, ids: ArrayLike) -> str:
        """As `decode_bytes`, as text; U+FFFD for what is no UTF-8, such as half a character."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")


def _no_text(error: UnicodeEncodeError) -> TextError:
    scalar = ord(error.object[error.start])
    return TextError(
        f"character {error.start} of the text is a lone surrogate, U+{scalar:04X}: remove it, or "
        f"read the text as UTF-16"
    )


def _parse(path: Path, parse: Callable[[bytes], _Parsed]) -> _Parsed:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelNotFoundError(f"cannot read {path}: {error.strerror}") from error
    try:
        return parse(data)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{path}: {error}") from error


def _read_specials(data: bytes, n_tokens: int) -> dict[str, int]:
    """The special tokens of a file, and those of Qwen2 where their ids and names are free."""
    table = json.loads(data, object_pairs_hook=_object)
    if isinstance(table, dict) and isinstance(table.get("special_tokens"), dict):
        table = table["special_tokens"]
    if not isinstance(table, dict) or not table:
        raise ValueError("expected an object of special tokens to ids")
    owners: dict[int, str] = {}
    for token, id_ in table.items():
        if type(id_) is not int or not n_tokens <= id_ <= np.iinfo(np.int32).max:
            raise ValueError(
                f"{token!r}: expected an id from {n_tokens} on, where the vocabulary ends, "
                f"found {id_!r}"
            )
        if id_ in owners:
            raise ValueError(f"{owners[id_]!r} and {token!r} have the same id {id_}")
        if not 1 <= len(token.encode()) <= MAX_SPECIAL_BYTES:
            raise ValueError(f"{token!r} is empty or longer than {MAX_SPECIAL_BYTES} bytes")
        owners[id_] = token
    if min(owners) > n_tokens + len(QWEN2_SPECIALS):
        raise ValueError(
            f"the ids begin at {min(owners)}, but the vocabulary ends at {n_tokens - 1}: "
            f"one of them is incomplete, or they do not belong together"
        )
    for id_, token in enumerate(QWEN2_SPECIALS, n_tokens):
        if id_ not in owners and token not in table:
            table[token] = id_
    return table


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} comes twice")
    return table
