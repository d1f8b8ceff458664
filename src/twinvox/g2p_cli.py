"""``twinvox g2p``, and how every command that takes a text is given it."""

import argparse
import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from twinvox.errors import TwinvoxError


def add_text(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", metavar="TEXT", help="what to say; - reads stdin")
    parser.add_argument("--text-file", type=Path, metavar="FILE", help="read the text from FILE")


def read_text(arguments: argparse.Namespace) -> str:
    if (arguments.text is None) == (arguments.text_file is None):
        arguments.error("give TEXT, - for stdin, or --text-file FILE")
    try:
        if arguments.text_file is not None:
            return str(arguments.text_file.read_text(encoding="utf-8"))
        if arguments.text == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        arguments.text.encode("utf-8")
    except UnicodeError as error:
        raise TwinvoxError(f"the text is not UTF-8: {error}") from error
    return str(arguments.text)


def add_g2p(parser: argparse.ArgumentParser) -> None:
    from twinvox.text.en_normalizer import DEFAULT_NORMALIZATION, NORMALIZATIONS

    add_text(parser)
    parser.add_argument(
        "--normalization",
        choices=NORMALIZATIONS,
        default=DEFAULT_NORMALIZATION,
        help="how numbers and abbreviations are read (default: %(default)s)",
    )
    parser.add_argument("--corpus", type=Path, metavar="FILE", help="one text a line")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="JSONL",
        help="write text, phonemes, ids and skipped scalars of each line",
    )
    parser.set_defaults(run=_g2p, error=parser.error)


def _g2p(arguments: argparse.Namespace) -> None:
    corpus, out = arguments.corpus, arguments.out
    if corpus is None:
        if out is not None:
            arguments.error("--out goes with --corpus")
        (row,) = _phoneme_rows([read_text(arguments)], arguments.normalization)
        print(row["phonemes"])
        _warn_of_skipped(row["skipped"])
        return
    if out is None or (arguments.text, arguments.text_file) != (None, None):
        arguments.error("--corpus goes with --out JSONL and without TEXT")
    left_out: dict[str, None] = {}
    with corpus.open(encoding="utf-8") as lines:
        if out.exists() and out.samefile(corpus):
            raise TwinvoxError(f"--out {out} is the corpus; give another file")
        with out.open("w", encoding="utf-8") as rows:
            texts = (line.rstrip("\n") for line in lines)
            try:
                for row in _phoneme_rows(texts, arguments.normalization):
                    rows.write(json.dumps(row, ensure_ascii=False) + "\n")
                    left_out.update(dict.fromkeys(row["skipped"]))
            except UnicodeDecodeError as error:
                raise TwinvoxError(f"{corpus} is not UTF-8 text: {error}") from error
    _warn_of_skipped(left_out)


def _phoneme_rows(texts: Iterable[str], normalization: str) -> Iterator[dict[str, Any]]:
    """Text, phonemes, ids and skipped scalars of each text: letters unspoken, phones without id."""
    from twinvox.backends import model_folder
    from twinvox.text.en_normalizer import normalize
    from twinvox.text.g2p import G2p
    from twinvox.text.ipa_tokenizer import IpaTokenizer
    from twinvox.text.scripts import unspoken_letters

    g2p = G2p()
    tokenizer = IpaTokenizer.load(model_folder("embedded") / "tokens.txt")
    for text in texts:
        words = normalize(text, normalization)
        phonemes = g2p.phonemize(words, normalization="none")
        ids, without_id = tokenizer.encode(phonemes)
        skipped = [*unspoken_letters(words), *without_id]
        yield {"text": text, "phonemes": phonemes, "ids": ids.tolist(), "skipped": skipped}


def _warn_of_skipped(skipped: Iterable[str]) -> None:
    from twinvox.errors import TextWarning

    if shown := " ".join(map(repr, skipped)):
        warnings.warn(f"{shown} cannot be spoken and is left out", TextWarning, stacklevel=2)
