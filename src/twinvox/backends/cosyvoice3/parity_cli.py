"""``twinvox parity tokenizer | frontend | synthesizer``."""

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from twinvox.errors import ModelNotFoundError, TwinvoxError

if TYPE_CHECKING:
    from twinvox.backends.cosyvoice3.parity import Report


def add_harnesses(parser: argparse.ArgumentParser) -> None:
    harnesses = parser.add_subparsers(required=True, metavar="HARNESS")

    def add(
        name: str, what: str, fixture: str, run: Callable[[argparse.Namespace], None]
    ) -> argparse.ArgumentParser:
        harness = harnesses.add_parser(name, help=what, description=what)
        _add_path(harness, "--fixture", fixture, required=True)
        _add_path(harness, "--models-dir", "folder with everything, in the published layout")
        _add_path(harness, "--tokenizer-dir", "folder with vocab.json and merges.txt")
        _add_path(harness, "--special-tokens-file", "default: the tokenizer folder's")
        harness.add_argument("--json", action="store_true", help="print one JSON object")
        harness.set_defaults(run=run, error=harness.error)
        return harness

    recorded = "recorded run, .safetensors with its .json beside it"
    add("tokenizer", "compare ids with recorded ones", "cases.json", _tokenizer)
    frontend = add("frontend", "compare the language model's input", recorded, _frontend)
    _add_path(frontend, "--embeddings-file", "embeddings-runtime-fp32.safetensors")
    _add_path(frontend, "--tok-fixture", "cases.json, to check the tokenizer first")
    synthesizer = add("synthesizer", "compare the audio of recorded tokens", recorded, _synthesizer)
    _add_path(synthesizer, "--embeddings-file", "embeddings-runtime-fp32.safetensors")
    _add_path(synthesizer, "--reference", "24 kHz WAV of the recorded run")
    _add_runtime(synthesizer)


def _add_path(
    parser: argparse.ArgumentParser, option: str, what: str, *, required: bool = False
) -> None:
    parser.add_argument(option, type=Path, metavar="PATH", required=required, help=what)


def _add_runtime(parser: argparse.ArgumentParser) -> None:
    from twinvox.runtime import RUNTIMES

    parser.add_argument("--runtime", choices=RUNTIMES, default="auto")
    parser.add_argument("--threads", type=int, metavar="N")
    parser.add_argument("--compute-units", metavar="UNITS", help="as of twinvox say")


def _tokenizer(arguments: argparse.Namespace) -> None:
    from twinvox.backends.cosyvoice3 import parity
    from twinvox.text.qwen2_tokenizer import Qwen2Tokenizer

    tokenizer = Qwen2Tokenizer.load(_tokenizer_dir(arguments), arguments.special_tokens_file)
    _show(parity.check_tokenizer(tokenizer, arguments.fixture), arguments.json)


def _frontend(arguments: argparse.Namespace) -> None:
    from twinvox.backends.cosyvoice3 import parity
    from twinvox.text.qwen2_tokenizer import Qwen2Tokenizer

    folder, embeddings = _tokenizer_dir(arguments), arguments.embeddings_file
    if embeddings is None:
        if arguments.models_dir is None:
            arguments.error("give --models-dir or --embeddings-file")
        embeddings = arguments.models_dir / "embeddings" / "embeddings-runtime-fp32.safetensors"
    tokenizer = Qwen2Tokenizer.load(folder, arguments.special_tokens_file)
    report = parity.check_frontend(tokenizer, embeddings, arguments.fixture, arguments.tok_fixture)
    _show(report, arguments.json)


def _synthesizer(arguments: argparse.Namespace) -> None:
    from twinvox.backends.cosyvoice3 import parity
    from twinvox.backends.cosyvoice3.folder import open_folder

    if arguments.models_dir is None:
        arguments.error("give --models-dir")
    folder = open_folder(
        arguments.models_dir,
        tokenizer_dir=arguments.tokenizer_dir,
        embeddings_file=arguments.embeddings_file,
        special_tokens_file=arguments.special_tokens_file,
    )
    report = parity.check_synthesizer(
        folder,
        arguments.fixture,
        arguments.reference,
        runtime=arguments.runtime,
        threads=arguments.threads,
        compute_units=arguments.compute_units,
    )
    _show(report, arguments.json)


def _tokenizer_dir(arguments: argparse.Namespace) -> Path:
    folder: Path | None = arguments.tokenizer_dir
    if folder is None:
        if arguments.models_dir is None:
            arguments.error("give --models-dir or --tokenizer-dir")
        folder = Path(arguments.models_dir) / "tokenizer"
    if not folder.is_dir():
        raise ModelNotFoundError(f"no tokenizer folder at {folder}")
    return folder


def _show(report: "Report", as_json: bool) -> None:
    """Print the report. Raises TwinvoxError where a gate failed."""
    if as_json:
        print(json.dumps(asdict(report) | {"status": report.status}, ensure_ascii=False))
    else:
        width = max(len(gate.name) for gate in report.gates)
        for gate in report.gates:
            print(f"{gate.name:{width}}  {gate.status:7}  {gate.detail}")
        for difference in report.differences:
            print(f"  {difference.where}: {difference.detail}")
    by_status = {
        status: ", ".join(gate.name for gate in report.gates if gate.status == status)
        for status in ("failed", "not run")
    }
    if by_status["not run"]:
        warnings.warn(f"not run: {by_status['not run']}", UserWarning, stacklevel=2)
    if by_status["failed"]:
        raise TwinvoxError(f"parity {report.harness} failed: {by_status['failed']}")
