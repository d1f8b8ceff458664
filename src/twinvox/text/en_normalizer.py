"""English text to words, in the way the caller chose."""

from collections.abc import Callable
from functools import cache
from typing import Literal, get_args

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
    return _reader(normalization)(text)


@cache
def _reader(normalization: str) -> Callable[[str], str]:
    """What reads so; imported when it is first asked for, as its patterns take time to compile."""
    match check_normalization(normalization):
        case "natural":
            from twinvox.text import en_natural

            return en_natural.normalize
        case "upstream":
            from twinvox.text import en_upstream

            return en_upstream.normalize
        case "none":
            return str
