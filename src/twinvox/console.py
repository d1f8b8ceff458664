"""The standard streams of a command: warnings on stderr, and streams closed, full or narrow."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twinvox.errors import TwinvoxError


def open_closed_streams() -> None:
    """A stream that the shell closed (2>&-) is empty or swallows all, instead of None."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - until the end


def flush_stdout() -> None:
    """Fails now, not as the interpreter ends, where it would be told in another way."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise TwinvoxError(f"cannot write to stdout: {error.strerror}") from error


def message(error: Exception) -> str:
    """What the user is told of ``error``."""
    if isinstance(error, UnicodeEncodeError) and error.encoding != "utf-8":
        shown = error.object[error.start : error.end]
        return f"cannot print {shown!r} in {error.encoding}; set PYTHONIOENCODING=utf-8"
    return str(error)


@contextmanager
def warnings_on_stderr() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            for warning in caught:
                print(f"twinvox: warning: {warning.message}", file=sys.stderr)
