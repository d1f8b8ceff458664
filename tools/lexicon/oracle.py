"""The pronunciation oracle: espeak-ng en-us as piper-phonemize bundles it (build and test only)."""

import re

import piper_phonemize

NEUTRAL = "Dogs run."
VOICE = "en-us"


def _sentences(text: str) -> list[str]:
    return ["".join(sentence) for sentence in piper_phonemize.phonemize_espeak(text, VOICE)]


def phonemize(text: str) -> str:
    """The phonemes of ``text``, all sentences joined; the oracle's state is made neutral first."""
    _sentences(NEUTRAL)
    return "".join(_sentences(text))


def phonemize_many(items: list[str]) -> list[str]:
    """`phonemize` of several one-clause sentences, in one call of the oracle where that is safe.

    Each item ends in a full stop and starts with a capital or a word that may not end a clause.
    """
    found = _sentences(NEUTRAL + " " + " ".join(items))
    if len(found) == len(items) + 1:
        return found[1:]
    return [phonemize(item) for item in items]


def is_word(text: str) -> bool:
    """Whether ``text`` is one word the lexicon may hold."""
    return re.fullmatch(r"[a-z]+(?:['-][a-z]+)*", text) is not None
