"""Byte-level BPE with the pre-tokeniser of Qwen2."""

from typing import Self, final

import numpy as np
import numpy.typing as npt

@final
class BytePairEncoder:
    """A vocabulary and its special tokens; once these are set, one may serve many threads.

    vocabulary is the content of a .tiktoken file (lines of a token in Base64 and its id) or of a
    vocab.json (an object of tokens, in GPT-2's alphabet of bytes, to ids). Ids 0..255 are the
    single bytes in any order, every later token comes of merging two earlier ones, lower ids
    first.

    Raises ValueError that tells the fault and where it is.
    """

    def __new__(cls, vocabulary: bytes, *, tiktoken: bool) -> Self: ...
    def __len__(self) -> int:
        """The tokens without the special ones."""

    def check_merges(self, merges: bytes) -> None:
        """Compare the content of a merges.txt with the merges that the vocabulary implies.

        Raises ValueError that names the first line that differs, or the first merge missing.
        """

    def set_specials(self, specials: dict[bytes, int]) -> None:
        """Set, once and before the first use, the tokens that texts contain literally.

        They are at most 255 bytes long; their ids are all different and from len(self) on.
        Raises ValueError otherwise.
        """

    def encode(self, text: str, specials: bool) -> npt.NDArray[np.int32] | None:
        """The ids [n] of a text in NFC; None where it takes more than a look to tell that it is.

        With specials, special tokens are found wherever the text contains them, the first and of
        those the longest; without, they are text like any other.

        Raises UnicodeEncodeError for lone surrogates.
        """

    def encode_normalized(self, text: str) -> npt.NDArray[np.int32]:
        """As encode without specials, of a text that is known to be in NFC."""

    def encode_batch(
        self, texts: tuple[str, ...], specials: bool
    ) -> list[npt.NDArray[np.int32] | None]:
        """As encode of each text, without the GIL for the whole of them."""

    def decode(self, ids: npt.NDArray[np.int32]) -> bytes:
        """The bytes of contiguous ids [n], special tokens included.

        Raises ValueError for an id that no token has.
        """
