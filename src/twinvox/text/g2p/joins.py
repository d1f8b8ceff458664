"""What the end of one form does before the sound that follows it."""

from twinvox.text.g2p.letters import VOWELS

ENDS_OPEN = VOWELS | {"ː", "ɹ"}


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


def leaning(form: str) -> str:
    """``form`` before an ending that begins with an unstressed vowel."""
    return flapped(link_r(form))


def glued(form: str, following: str) -> tuple[str, str]:
    """Two parts of a hyphen chain, as each colours the other."""
    first = following[:1]
    if form.endswith("n") and first in ("k", "ɡ"):
        form = form[:-1] + "ŋ"
    elif first == "n" and form.endswith(("ɾi", "ɾɚ")):
        form = form[:-2] + "t" + form[-1]
    elif form.endswith("ɑːɹ") and following.lstrip("ˈˌ")[:1] in VOWELS:
        form += "ɹ"
    elif first in ("ʌ", "ə", "ɐ"):
        form = flapped(form)
    elif first == "t" and following[1:2] in VOWELS and form[-1:] in ENDS_OPEN:
        following = "ɾ" + following[1:]
    return form, following
