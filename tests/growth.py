"""Whether a function of a text takes time in proportion to the text's length."""

import gc
import time
from collections.abc import Callable

import pytest

TENTHS = 10
ATTEMPTS = 12


def _seconds(function: Callable[[str], object], text: str, times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        function(text)
    return time.process_time() - start


def assert_linear(function: Callable[[str], object], unit: str, length: int) -> None:
    """A text of ``unit`` over and over takes about as long as ten of a tenth of its length.

    Quadratic work takes ten times as long. The two are timed one after the other, and again when
    they differ by more than the root of ten: a busy machine stretches one of them now and then,
    quadratic work is slow every time.
    """
    text = (unit * (length // len(unit) + 1))[:length]
    tenth = text[: length // TENTHS]
    function(tenth)
    ratios = []
    gc.disable()  # a collection walks all that the other tests left behind
    try:
        for _ in range(ATTEMPTS):
            short = _seconds(function, tenth, TENTHS)
            ratios.append(_seconds(function, text, 1) / short)
            if ratios[-1] < TENTHS**0.5:
                return
    finally:
        gc.enable()
    pytest.fail(f"{unit!r}: {length} characters took {min(ratios):.1f} times their tenths")
