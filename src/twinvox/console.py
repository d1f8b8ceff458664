"""Where a command writes: warnings on stderr, streams closed, full or narrow, and its file."""

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


def check_writable(path: Path) -> None:
    """Raises TwinvoxError before the work that would be lost, not after it."""
    if path.is_dir():
        problem = "Is a directory"
    elif not path.parent.is_dir():
        problem = f"no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        problem = "Permission denied"
    else:
        return
    raise TwinvoxError(f"cannot write {path}: {problem}")


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
