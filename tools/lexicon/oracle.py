"""The pronunciation oracle: espeak-ng en-us as piper-phonemize bundles it (build and test only)."""

from collections.abc import Sequence

import piper_phonemize

NEUTRAL = "Dogs run."
FRAME, BEFORE, AFTER = "Dogs {} dogs.", "dˈɑːɡz ", " dˈɑːɡz."
AT_ONCE = 200
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


def base_forms(words: Sequence[str]) -> dict[str, str]:
    """What the oracle makes of each of ``words`` among others."""
    found: dict[str, str] = {}
    for at in range(0, len(words), AT_ONCE):
        part = words[at : at + AT_ONCE]
        answers = phonemize_many([FRAME.format(word) for word in part])
        for word, answer in zip(part, answers, strict=True):
            spoken = answer.removeprefix(BEFORE).removesuffix(AFTER)
            if spoken and answer == BEFORE + spoken + AFTER:
                found[word] = spoken
    return found
