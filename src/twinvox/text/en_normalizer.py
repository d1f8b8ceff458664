"""English text to words, in the way the caller chose."""

from typing import Literal, get_args

from twinvox.text import en_natural, en_upstream

Normalization = Literal["natural", "upstream", "none"]
"""``natural`` as a good reader reads; ``upstream`` exactly as the model's training text was
prepared; ``none`` as it stands."""

NORMALIZATIONS: tuple[Normalization, ...] = get_args(Normalization)
DEFAULT_NORMALIZATION: Normalization = "natural"


def check_normalization(normalization: str) -> Normalization:
    """``normalization`` if there is such a one; ValueError naming the choices if not."""
    for choice in NORMALIZATIONS:
        if choice == normalization:
            return choice
    raise ValueError(
        f"normalization is {normalization!r}; expected one of {', '.join(NORMALIZATIONS)}"
    )


def normalize(text: str, normalization: str = DEFAULT_NORMALIZATION) -> str:
    """``text`` with numbers, abbreviations and symbols in words; ValueError for a wrong mode."""
    if normalization == "natural":
        return en_natural.normalize(text)
    if normalization == "upstream":
        return en_upstream.normalize(text)
    check_normalization(normalization)
    return text
