"""What the end of one form does before the sound that follows it."""

from twinvox.text.g2p.letters import VOWELS


def link_r(form: str) -> str:
    """Before a vowel a final ɚ or ɜː is followed by the r that it stands for."""
    return form + "ɹ" if form.endswith(("ɚ", "ɜː")) else form


def rhotic(form: str) -> str:
    """Before r a final ə takes its colour, but after i."""
    return form[:-1] + "ɚ" if form.endswith("ə") and not form.endswith("iə") else form


def flapped(form: str) -> str:
    """Before an unstressed vowel of the same word a t after a vowel is tapped."""
    before = form[-2:-1]
    if form.endswith("t") and before and (before in VOWELS or before in "ːɹ"):
        return form[:-1] + "ɾ"
    return form


def plural(form: str) -> str:
    """``form`` of a word with the plural or possessive s."""
    if form.endswith(("s", "z", "ʃ", "ʒ")):
        return form + "ᵻz"
    return form + ("s" if form.endswith(("p", "t", "k", "f", "θ")) else "z")


def possessive(form: str, word: str) -> str:
    """``form`` of ``word`` with an apostrophe and s, which goes by its letters: Eric's has z."""
    if form.endswith("ʃ") and word.endswith("ch"):
        return form + "ɪz"
    if form.endswith(("s", "z", "ʃ", "ʒ")):
        return form + "ᵻz"
    voiceless = word.endswith(("p", "t", "k", "f")) or (form.endswith("k") and word[-1] == "h")
    return form + ("s" if voiceless else "z")


def leaning(form: str) -> str:
    """``form`` before an ending that begins with an unstressed vowel."""
    return flapped(link_r(form))
