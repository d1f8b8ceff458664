"""The pronunciation lexicon and the clause machine of the English front end."""

from collections.abc import Callable, Sequence
from mmap import mmap
from typing import Self, final

_Entry = tuple[str, int, dict[int, str] | None]

@final
class Lexicon:
    """A lexicon in memory; immutable, shared by threads, none of its memory is copied.

    ``blob`` is read-only; it is kept, and cannot be closed before this object is gone. Raises
    ValueError where it is no lexicon of this version, or damaged.
    """

    def __new__(cls, blob: bytes | memoryview | mmap) -> Self: ...
    def __len__(self) -> int: ...
    def find(self, key: str) -> _Entry | None:
        """Base form, flags and the forms that differ by context of ``key``; None if absent."""

    def speak_line(
        self, line: str, loud: bool, pronounce: Callable[[str, bool, bool], _Entry | None]
    ) -> str | None:
        """The phonemes of a clause of ASCII words with spaces or one hyphen between two.

        In a ``loud`` clause capitals are no sign of an abbreviation. ``pronounce`` is called with
        each word that the lexicon does not settle, ``loud`` and whether it is the last word; where
        it returns None the word is left out. None where no word is left.
        """

    def speak(
        self,
        tokens: Sequence[tuple[str, bool, bool, bool, bool, bool]],
        loud: bool,
        pronounce: Callable[[str, bool, bool], _Entry | None],
    ) -> str | None:
        """As speak_line, for any words: (text, glued, apart, hyphen, closed, quoted) each."""
