"""``twinvox bench``: its own options, and what it does with them."""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twinvox.errors import TwinvoxError

if TYPE_CHECKING:
    from twinvox.backends.base import VoiceSource
    from twinvox.bench.corpora import Corpus
    from twinvox.bench.result import Setting
    from twinvox.bench.run import Model, Scorer


def add_options(parser: argparse.ArgumentParser) -> None:
    from twinvox.bench.corpora import CORPORA

    group = parser.add_argument_group("benchmark")
    group.add_argument(
        "--corpus", choices=CORPORA, help="what to speak (default: the backend's language)"
    )
    group.add_argument(
        "--corpus-path", type=Path, metavar="FILE", help="one phrase a line, [name] for a category"
    )
    group.add_argument("--limit", type=int, metavar="N", help="at most N phrases of each category")
    group.add_argument("--skip-asr", action="store_true", help="do not have the speech transcribed")
    group.add_argument("--audio-dir", type=Path, metavar="DIR", help="keep the speech as WAV files")
    group.add_argument("--output-json", type=Path, metavar="FILE", help="write all figures")
    group.add_argument(
        "--report", type=Path, metavar="DIR", help="write report.md and report.png with charts"
    )
    group.add_argument(
        "--compare",
        type=Path,
        nargs=2,
        metavar=("OLD", "NEW"),
        help="compare two files of --output-json instead of measuring",
    )
    group.add_argument("--json", action="store_true", help="print one JSON object")


def run(
    arguments: argparse.Namespace,
    load: "Callable[[], Model]",
    make_voice: "Callable[[Model], VoiceSource]",
    options: dict[str, Any],
) -> None:
    """Measure what ``load`` gives; ``options`` are those of its ``stream``."""
    from twinvox.backends import model_folder
    from twinvox.bench.report import check_charts, write_report
    from twinvox.bench.run import run_benchmark

    corpus = _corpus(arguments)
    if arguments.report is not None:
        check_charts()
    for path in (arguments.output_json, arguments.report and arguments.report / "report.md"):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                arguments.error(f"{path} is a folder; give a file")
    scorer = _scorer(arguments)
    model_folder(  # fetched now, so that the time to load is not the network's
        arguments.backend,
        arguments.models_dir,
        variant=arguments.variant,
        offline=arguments.offline,
    )
    report = run_benchmark(
        load,
        make_voice,
        corpus,
        _setting(arguments, corpus),
        options=options,
        scorer=scorer,
        audio_dir=arguments.audio_dir,
        show=_progress_bar,
    )
    content = report.to_json()
    if arguments.output_json is not None:
        text = json.dumps(content, ensure_ascii=False, indent=1)
        arguments.output_json.write_text(text + "\n", encoding="utf-8")
    if arguments.json:
        print(json.dumps(content, ensure_ascii=False))
    else:
        _print_summary(content["summary"])
    if arguments.report is not None:
        write_report(content, arguments.report)
    if failed := [row for row in report.phrases if row.error is not None]:
        raise TwinvoxError(
            f"{len(failed)} of {len(report.phrases)} phrases could not be spoken; phrase "
            f"{failed[0].index}: {failed[0].error}"
        )


def compare(arguments: argparse.Namespace) -> None:
    from twinvox.bench.compare import compare, markdown
    from twinvox.bench.result import read_json

    comparison = compare(*map(read_json, arguments.compare))
    print(json.dumps(comparison) if arguments.json else markdown(comparison))
    if comparison["differences"]:
        warnings.warn(
            f"the runs differ in {', '.join(comparison['differences'])}: compare with care",
            UserWarning,
            stacklevel=2,
        )


def _corpus(arguments: argparse.Namespace) -> "Corpus":
    from twinvox.backends.cosyvoice3.options import NAMES
    from twinvox.bench.corpora import MINIMAX, OWN, load_corpus, read_corpus

    if arguments.corpus is not None and arguments.corpus_path is not None:
        arguments.error("give --corpus or --corpus-path, not both")
    if arguments.corpus_path is not None:
        corpus = read_corpus(arguments.corpus_path)
    else:
        english, mandarin = OWN
        default = mandarin if arguments.backend in NAMES else english
        corpus = load_corpus(arguments.corpus or default, offline=arguments.offline)
    if corpus.name in MINIMAX:
        print(f"twinvox: {corpus.name} is {corpus.source}", file=sys.stderr)
    return corpus if arguments.limit is None else corpus.first(arguments.limit)


def _setting(arguments: argparse.Namespace, corpus: "Corpus") -> "Setting":
    from twinvox import __version__
    from twinvox.backends.base import DEFAULT_VOICE
    from twinvox.backends.cosyvoice3 import folder, options
    from twinvox.bench.result import Setting
    from twinvox.bench.run import machine
    from twinvox.runtime import choose_runtime, default_threads

    default = folder.DEFAULT_VOICE if arguments.backend in options.NAMES else DEFAULT_VOICE
    voice = arguments.voice or arguments.prompt_assets or arguments.prompt_audio or default
    runtime, _ = choose_runtime(arguments.runtime)
    on_core_ml = arguments.compute_units or "default"
    return Setting(
        backend=arguments.backend,
        corpus=corpus.name,
        corpus_source=corpus.source,
        voice=str(voice),
        seed=arguments.seed,
        runtime=runtime,
        compute_units=on_core_ml if runtime == "coreml" else "cpu_only",
        precision=arguments.precision,
        threads=arguments.threads or default_threads(),
        machine=machine(),
        version=__version__,
    )


def _scorer(arguments: argparse.Namespace) -> "Scorer":
    """Finds the recogniser's model now, so that a wrong name does not cost a run."""
    from twinvox.asr import DEFAULT_MODEL, Whisper, find_model
    from twinvox.bench.run import Scorer

    if arguments.skip_asr:
        return Scorer(skip_reason="not asked for")
    model = arguments.asr_model or DEFAULT_MODEL
    try:
        folder = find_model(model, offline=arguments.offline)
    except TwinvoxError as error:
        if arguments.asr_model is not None:
            raise
        warnings.warn(f"the speech is not scored: {error}", UserWarning, stacklevel=2)
        return Scorer(skip_reason=str(error))
    return Scorer(f"faster-whisper {model}", partial(Whisper, folder))


def _progress_bar(items: Iterable[Any], what: str) -> Iterable[Any]:
    """The items, with a bar on a terminal."""
    from tqdm import tqdm

    return tqdm(items, desc=what, file=sys.stderr, disable=not sys.stderr.isatty(), leave=False)


def _print_summary(summary: dict[str, Any]) -> None:
    width = max(map(len, summary))
    for name, value in summary.items():
        if value is not None:
            print(f"{name:{width}}  {value}")
