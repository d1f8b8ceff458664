"""The tokens of MIL text, one after another, and where they stand in the file."""

import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import NoReturn

from twinvox.errors import ModelFormatError, TwinvoxError
from twinvox.mil.literals import Literal

_TOKEN = re.compile(
    r"""
      "(?: [^"\\]++ | \\. )*+"?                         # a string; the last may lack its end
    | tensor \s* < [^<>\[\]]* \[ [^<>\[\]]* \] \s* >    # the type of a tensor
    | ->
    | [\w.@:/+-]+                                       # a name or a number
    | \S
    """,
    re.VERBOSE | re.DOTALL,
)
_NAME_STARTS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_SIGNS = frozenset(["", "->", '"', *"()[]{}<>,;="])
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_MAX_DEPTH = 16  # tensors have few axes; without a limit a long row of "[" recurses without end
_SHOWN = 24


class Scanner:
    """Reads ``text``, the content of the file at ``path``; ``index`` counts the tokens read."""

    def __init__(self, text: str, path: Path) -> None:
        self.index = 0
        self._text = text
        self._path = path
        self._tokens: list[str] = _TOKEN.findall(text)
        self._tokens += ["", ""]  # the end, and what follows it

    def place(self, index: int) -> str:
        """file:line:column of a token."""
        found = next(islice(_TOKEN.finditer(self._text), index, None), None)
        position = len(self._text) if found is None else found.start()
        line = self._text.count("\n", 0, position) + 1
        column = position - self._text.rfind("\n", 0, position)
        return f"{self._path}:{line}:{column}"

    def fail(
        self, message: str, index: int, kind: type[TwinvoxError] = ModelFormatError
    ) -> NoReturn:
        raise kind(f"{self.place(index)}: {message:.400}")

    def expected(self, what: str) -> NoReturn:
        token = self._tokens[self.index]
        found = repr(token[:_SHOWN]) if token else "the end"
        self.fail(f"expected {what}, found {found}", self.index)

    def take(self, token: str) -> bool:
        """Step over ``token`` if it comes next."""
        if self._tokens[self.index] != token:
            return False
        self.index += 1
        return True

    def need(self, *tokens: str) -> None:
        for token in tokens:
            if not self.take(token):
                self.expected(repr(token))

    def name(self, what: str = "a name") -> str:
        token = self._tokens[self.index]
        if token[:1] not in _NAME_STARTS or token[-1] == ">":
            self.expected(what)
        self.index += 1
        return token

    def word(self, what: str) -> str:
        """A number, a bare word or a quoted string, as written."""
        token = self._tokens[self.index]
        if token in _SIGNS or (token[0] == '"' and token[-1] != '"'):
            self.expected(what)
        self.index += 1
        return token

    def tensor_type(self) -> str | None:
        """The type of a tensor, as written, if it comes next."""
        token = self._tokens[self.index]
        if token[:6] != "tensor" or token[-1] != ">":
            return None
        self.index += 1
        return token

    def at_immediate(self) -> bool:
        """Whether a value with its type comes next, not the name of one."""
        token, following = self._tokens[self.index : self.index + 2]
        return token not in _SIGNS and (token[-1] == ">" or following == "(")

    def at_end(self) -> bool:
        return not self._tokens[self.index]

    def items(self, closing: str, item: Callable[[], None]) -> None:
        """Comma-separated items up to ``closing``, each read by ``item``."""
        if self.take(closing):
            return
        item()
        while self.take(","):
            item()
        self.need(closing)

    def skip_angles(self) -> None:
        """Step over ``<...>``, in which more of them may stand."""
        start = self.index
        self.need("<")
        depth = 1
        while depth:
            token = self._tokens[self.index]
            if not token:
                self.fail("'<' is never closed", start)
            depth += (token == "<") - (token == ">")
            self.index += 1

    def literal(self, depth: int = 0) -> Literal:
        opening = self._tokens[self.index]
        if opening not in _CLOSING:
            return self.word("a value")
        if depth == _MAX_DEPTH:
            self.fail(f"brackets are nested more than {_MAX_DEPTH} deep", self.index)
        self.index += 1
        items: list[Literal] = []
        self.items(_CLOSING[opening], lambda: items.append(self.literal(depth + 1)))
        return items if opening == "[" else tuple(items)
