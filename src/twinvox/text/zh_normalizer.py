"""Mandarin text as the model reads it: figures in words, marks as pauses.

"zh" is twinvox's own rule set, "zh-basic" the one of the reference (digits one by one), "wetext"
the grammars of the wetext package, "none" leaves the text alone.
"""

import re
from collections.abc import Callable
from functools import cache

from twinvox.errors import RuntimeUnavailableError
from twinvox.text.zh_cleanup import HAN, clean_up, to_ascii
from twinvox.text.zh_numbers import digits
from twinvox.text.zh_rules import read_figures

_HAN = re.compile(f"[{HAN}]")
_HELD = "\ufdd0"  # no character, so that no rule knows it
_BASIC = (
    (re.compile("[\r\n]"), ""),
    (re.compile("²"), "平方"),
    (re.compile("³"), "立方"),
    (re.compile("[0-9]+"), lambda match: digits(match.group())),
    (re.compile(r"\."), "。"),
    (re.compile(" - "), "，"),
    (re.compile("(?<![!-~]) | (?![!-~])"), ""),
    (re.compile("[（）【】`]"), ""),
    (re.compile("——"), " "),
    (re.compile("(?<![，,、])[，,、]+\\Z"), "。"),
)


def normalize(
    text: str,
    normalization: str = "zh",
    *,
    prenormalized: bool = False,
    kept: re.Pattern[str] | None = None,
) -> str:
    """``text`` as `normalizer` gives it, but for what matches ``kept``, which stays.

    Text that is ``prenormalized``, that holds both "<|" and "|>" or that has no Chinese character
    is returned as it is.
    """
    rules = normalizer(normalization)
    if prenormalized or ("<|" in text and "|>" in text) or not _HAN.search(text):
        return text
    if kept is None:
        return rules(text)
    held = iter(kept.findall(text))
    return re.sub(_HELD, lambda _: next(held), rules(kept.sub(_HELD, text.replace(_HELD, ""))))


def normalizer(normalization: str) -> Callable[[str], str]:
    """The rule set of that name.

    Raises ValueError where there is none, RuntimeUnavailableError where its package is missing.
    """
    try:
        return NORMALIZERS[normalization]()
    except KeyError:
        raise ValueError(
            f"normalization is {normalization!r}; expected one of {', '.join(NORMALIZERS)}"
        ) from None


def _zh(text: str) -> str:
    return clean_up(read_figures(to_ascii(text)))


def _zh_basic(text: str) -> str:
    text = text.strip()
    for pattern, replacement in _BASIC:
        text = pattern.sub(replacement, text)
    return text


@cache
def _wetext() -> Callable[[str], str]:
    try:
        from wetext import Normalizer
    except ImportError:
        raise RuntimeUnavailableError(
            'the package wetext is not installed: pip install "twinvox[wetext]"'
        ) from None
    grammars = Normalizer(lang="zh", operator="tn")
    return lambda text: clean_up(str(grammars.normalize(to_ascii(text))))


NORMALIZERS: dict[str, Callable[[], Callable[[str], str]]] = {
    "zh": lambda: _zh,
    "zh-basic": lambda: _zh_basic,
    "wetext": _wetext,
    "none": lambda: str,
}
