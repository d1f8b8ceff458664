"""The options of ``twinvox say`` that are CosyVoice3's."""

import argparse
from pathlib import Path
from typing import Any

from twinvox.text.en_normalizer import NORMALIZATIONS as ENGLISH

NAMES = ("cosyvoice3", "cv3")
NORMALIZATIONS = ("zh", "zh-basic", "wetext", "none")

_FILES = {
    "tokenizer_dir": "folder with vocab.json and merges.txt",
    "embeddings_file": "embeddings-runtime-fp32.safetensors",
    "special_tokens_file": "special_tokens.json",
}
_OWN = (
    "prompt_assets", "prenormalized", "max_new_tokens", "no_chunking", *_FILES
)  # fmt: skip
# Options that this backend has not, with their defaults.
_FOREIGN = {"variant": None, "phonemes": False, "trim": False, "speed": 1.0}


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("CosyVoice3 (--backend cosyvoice3 or cv3; Mandarin, beta)")
    group.add_argument(
        "--prompt-assets",
        type=Path,
        metavar="FILE",
        help="voice bundle: FILE.safetensors with FILE.json beside it",
    )
    group.add_argument("--prenormalized", action="store_true", help="speak TEXT as it is")
    group.add_argument(
        "--max-new-tokens", type=int, metavar="N", help="cap of a segment, 40 ms a token"
    )
    group.add_argument(
        "--no-chunking", action="store_true", help="speak TEXT in one go, however long"
    )
    for name, what in _FILES.items():
        group.add_argument(
            _option(name), type=Path, metavar="PATH", help=f"{what} (default: the model folder's)"
        )


def check_options(arguments: argparse.Namespace) -> None:
    """Wrong use where options of another backend than the chosen one are given."""
    if arguments.backend in NAMES:
        given = [name for name, default in _FOREIGN.items() if getattr(arguments, name) != default]
    else:
        given = [name for name in _OWN if getattr(arguments, name)]
    if given:
        options = ", ".join(map(_option, given))
        arguments.error(f"{options} cannot be given with --backend {arguments.backend}")
    readings = NORMALIZATIONS if arguments.backend in NAMES else ENGLISH
    if arguments.normalization not in (None, *readings):
        arguments.error(
            f"--normalization {arguments.normalization} cannot be given with --backend "
            f"{arguments.backend}, which reads {', '.join(readings)}"
        )
    others = arguments.prompt_audio is not None or arguments.voice is not None
    if arguments.prompt_assets is not None and others:
        arguments.error("give --prompt-assets, --voice or --prompt-audio, not several")


def load_options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in _FILES}


def stream_options(arguments: argparse.Namespace) -> dict[str, Any]:
    options = {
        "prenormalized": arguments.prenormalized,
        "max_new_tokens": arguments.max_new_tokens,
        "auto_chunking": not arguments.no_chunking,
    }
    if arguments.normalization is not None:
        options["normalization"] = arguments.normalization
    return options


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
