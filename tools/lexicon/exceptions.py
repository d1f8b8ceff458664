"""The words of the vocabulary that twinvox would misread, if the lexicon did not hold them."""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace

from oracle import base_forms

from twinvox.text.g2p import unknown
from twinvox.text.g2p.letters import LetterToSound
from twinvox.text.g2p.lexicon import Entry


def exceptions(
    entries: Mapping[str, Entry],
    letters: LetterToSound,
    vocabulary: Iterable[str],
) -> dict[str, Entry]:
    """Entries for the misread words of ``vocabulary``, and for their CAPITALS where those differ.

    Short words come first: longer ones may be derived of them. A word with accents that the
    oracle cannot read is left to twinvox.
    """
    known = dict(entries)
    lexicon = SimpleNamespace(find=known.get)
    found: dict[str, Entry] = {}
    words = sorted({*vocabulary} - known.keys(), key=lambda word: (len(word), word))
    for word, spoken in base_forms(words).items():
        if max(word) >= unknown.NEVER_READ:
            continue
        read = unknown.pronounce(word, lexicon, letters)
        if read is None or read.base != spoken:
            known[word] = found[word] = Entry(spoken)
    capitals = base_forms([word.upper() for word in found if word.isascii()])
    for word, spoken in capitals.items():
        if spoken != found[word.lower()].base:
            found[word] = Entry(spoken)
    return found
