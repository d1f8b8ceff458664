"""The joins of hyphen chains, as patterns."""

import re

from twinvox.text.g2p.joins import flapped
from twinvox.text.g2p.letters import VOWELS

ENDS_OPEN = (*VOWELS, "ː", "ɹ", "əl")
VOWEL = "[" + "".join(VOWELS) + "]"
TAPPED = re.compile(f"ɾ({VOWEL}+ː?l?)$")
TAPS = re.compile(f"{VOWEL}+ː?(?![nŋ])")
TAPPABLE = re.compile(f"t{VOWEL}+ː?(?!k?n|ŋ)")


def glued(form: str, following: str) -> tuple[str, str]:
    """Two parts of a hyphen chain, as each colours the other."""
    first = following[:1]
    if form.endswith("n") and first in ("k", "ɡ"):
        form = form[:-1] + "ŋ"
    elif first == "n" and TAPPED.search(form):
        form = TAPPED.sub(r"t\1", form)
    elif form.endswith(("ɑːɹ", "ʊɹ")):
        form += "ɹ" * (following.lstrip("ˈˌ")[:1] in VOWELS)
    elif first == "ɹ" and form.endswith("ɹ"):
        form = form[:-1]
    elif TAPS.match(following):
        form = flapped(form)
    elif TAPPABLE.match(following) and form.endswith(ENDS_OPEN):
        following = "ɾ" + following[1:]
    return form, following
