"""The command line: ``twinvox say | g2p | voice | info``."""

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twinvox.errors import TwinvoxError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns 0 on success, 1 on failure (2 is argparse's, for wrong use)."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    with _warnings_on_stderr():
        try:
            arguments.run(arguments)
        except (TwinvoxError, ValueError, OSError) as error:
            print(f"twinvox: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("twinvox: interrupted", file=sys.stderr)
            return 1
    return 0


@contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            for warning in caught:
                print(f"twinvox: warning: {warning.message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    from twinvox import __version__

    parser = argparse.ArgumentParser(
        prog="twinvox", description="On-device zero-shot voice cloning."
    )
    parser.add_argument("--version", action="version", version=f"twinvox {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_say(commands.add_parser("say", help="speak a text into a WAV file"))
    _add_g2p(commands.add_parser("g2p", help="print the IPA of a text"))
    _add_voice(commands.add_parser("voice", help="make and inspect voices"))
    info = commands.add_parser("info", help="show version, runtime, kernels and model folders")
    info.set_defaults(run=_info)
    return parser


def _add_text(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", metavar="TEXT", help="what to say; - reads stdin")
    parser.add_argument("--text-file", type=Path, metavar="FILE", help="read the text from FILE")


def _add_model(parser: argparse.ArgumentParser) -> None:
    from twinvox.backends import BACKENDS
    from twinvox.backends.luxtts.folder import VARIANTS
    from twinvox.runtime import RUNTIMES

    parser.add_argument("--backend", choices=BACKENDS, default="embedded")
    parser.add_argument(
        "--models-dir", type=Path, metavar="DIR", help="LuxTTS models in the published layout"
    )
    parser.add_argument("--variant", choices=VARIANTS, help="graph variant of the LuxTTS models")
    parser.add_argument("--runtime", choices=RUNTIMES, default="auto")
    parser.add_argument(
        "--threads", type=int, metavar="N", help="default: the physical cores, at most 4"
    )


def _add_prompt(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument(
        "--prompt-audio",
        type=Path,
        metavar="WAV",
        required=required,
        help="recording of up to 5 s to clone",
    )
    parser.add_argument(
        "--prompt-text", metavar="TEXT", required=required, help="what the recording says"
    )
    parser.add_argument("--trim", action="store_true", help="remove the recording's edge silence")


def _add_say(parser: argparse.ArgumentParser) -> None:
    from twinvox.backends.base import DEFAULT_SEED

    _add_text(parser)
    parser.add_argument(
        "-o", "--output", default="out.wav", metavar="WAV", help="default: out.wav; - is stdout"
    )
    _add_model(parser)
    parser.add_argument("--voice", metavar="FILE|ID", help="voice file, or a voice that ships")
    _add_prompt(parser, required=False)
    parser.add_argument("--phonemes", action="store_true", help="TEXT is IPA")
    parser.add_argument("--speed", type=float, default=1.0, metavar="F", help="0.5 to 2.0")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=_say, error=parser.error)


def _add_g2p(parser: argparse.ArgumentParser) -> None:
    _add_text(parser)
    parser.add_argument("--corpus", type=Path, metavar="FILE", help="one text a line")
    parser.add_argument(
        "--out", type=Path, metavar="JSONL", help="write text, phonemes and ids of each line"
    )
    parser.set_defaults(run=_g2p, error=parser.error)


def _add_voice(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    make = actions.add_parser("make", help="make a voice from a recording and its transcript")
    _add_prompt(make, required=True)
    make.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.safetensors")
    make.set_defaults(run=_voice_make)
    info = actions.add_parser("info", help="describe a voice; without one, list those that ship")
    info.add_argument("voice", nargs="?", metavar="FILE|ID")
    info.set_defaults(run=_voice_info)


def _read_text(arguments: argparse.Namespace) -> str:
    if (arguments.text is None) == (arguments.text_file is None):
        arguments.error("give TEXT, - for stdin, or --text-file FILE")
    try:
        if arguments.text_file is not None:
            return str(arguments.text_file.read_text(encoding="utf-8"))
        if arguments.text == "-":
            return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise TwinvoxError(f"the text is not UTF-8: {error}") from error
    return str(arguments.text)


def _load(arguments: argparse.Namespace) -> Any:
    from twinvox import load

    if arguments.models_dir is not None and arguments.backend == "embedded":
        arguments.error("--models-dir goes with --backend luxtts")
    return load(
        arguments.backend,
        models_dir=arguments.models_dir,
        variant=arguments.variant,
        runtime=arguments.runtime,
        threads=arguments.threads,
    )


@contextmanager
def _progress_bar() -> Iterator[Any]:
    """A progress callback that draws on a terminal and is silent elsewhere."""
    from tqdm import tqdm

    with tqdm(file=sys.stderr, disable=not sys.stderr.isatty(), leave=False) as bar:

        def show(done: int, total: int, stage: str) -> None:
            bar.total = total
            bar.set_description(stage, refresh=False)
            bar.update(done - bar.n)

        yield show


def _say(arguments: argparse.Namespace) -> None:
    if (arguments.prompt_audio is None) != (arguments.prompt_text is None):
        arguments.error("--prompt-audio and --prompt-text go together")
    if arguments.prompt_audio is not None and arguments.voice is not None:
        arguments.error("give --voice or --prompt-audio, not both")
    if arguments.json and arguments.output == "-":
        arguments.error("--json and -o - both write to stdout")
    text = _read_text(arguments)
    tts = _load(arguments)
    voice = arguments.voice
    if arguments.prompt_audio is not None:
        voice = tts.voice(arguments.prompt_audio, arguments.prompt_text, trim=arguments.trim)
    started = time.perf_counter()
    parts, first_audio = [], 0.0
    with _progress_bar() as progress:
        for part in tts.stream(
            text,
            voice,
            seed=arguments.seed,
            speed=arguments.speed,
            phonemes=arguments.phonemes,
            progress=progress,
        ):
            first_audio = first_audio or time.perf_counter() - started
            parts.append(part)
    elapsed = time.perf_counter() - started
    speech = _join(parts)
    speech.save(sys.stdout.buffer if arguments.output == "-" else arguments.output)
    rtfx = speech.seconds / elapsed
    if arguments.json:
        report = {
            "output": arguments.output,
            "sample_rate": speech.sample_rate,
            "samples": len(speech.samples),
            "seconds": round(speech.seconds, 3),
            "rtfx": round(rtfx, 2),
            "first_audio_ms": round(first_audio * 1e3, 1),
            "segments": [
                {"text": s.text, "start": round(s.start, 3), "end": round(s.end, 3)}
                for s in speech.segments
            ],
            "seed": speech.seed,
            "finished_on_eos": speech.finished_on_eos,
            "timings_ms": {k: round(v * 1e3, 1) for k, v in speech.timings.items()},
        }
        print(json.dumps(report, ensure_ascii=False))
    elif arguments.output != "-":
        print(f"{arguments.output}: {speech.seconds:.2f} s of speech, {rtfx:.1f}x real time")


def _join(parts: list[Any]) -> Any:
    from twinvox.backends.base import join_parts

    return join_parts(parts, parts[0].sample_rate, parts[0].seed)


def _g2p(arguments: argparse.Namespace) -> None:
    from twinvox.text.g2p import G2p

    g2p = G2p()
    if arguments.corpus is None:
        if arguments.out is not None:
            arguments.error("--out goes with --corpus")
        print(g2p.phonemize(_read_text(arguments)))
        return
    if arguments.out is None or arguments.text is not None:
        arguments.error("--corpus goes with --out JSONL and without TEXT")
    from twinvox.backends import model_folder
    from twinvox.text.ipa_tokenizer import IpaTokenizer

    tokenizer = IpaTokenizer.load(model_folder("embedded") / "tokens.txt")
    with (
        arguments.corpus.open(encoding="utf-8") as lines,
        arguments.out.open("w", encoding="utf-8") as out,
    ):
        for line in lines:
            text = line.rstrip("\n")
            phonemes = g2p.phonemize(text)
            ids, _ = tokenizer.encode(phonemes)
            row = {"text": text, "phonemes": phonemes, "ids": ids.tolist()}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _voice_make(arguments: argparse.Namespace) -> None:
    from twinvox import load

    tts = load()
    voice = tts.voice(arguments.prompt_audio, arguments.prompt_text, trim=arguments.trim)
    voice.save(arguments.output)
    print(arguments.output)


def _voice_info(arguments: argparse.Namespace) -> None:
    from twinvox.voice import Voice, shipped_voices

    if arguments.voice is None:
        print("\n".join(shipped_voices()))
        return
    voice = Voice.load(arguments.voice)
    rows = {"prompt_text": voice.prompt_text, "prompt_phonemes": voice.prompt_phonemes}
    rows |= {name: f"{data.dtype} {list(data.shape)}" for name, data in voice.tensors.items()}
    rows |= dict(voice.info)
    _print_rows({key: value for key, value in rows.items() if value})


def _info(_: argparse.Namespace) -> None:
    from twinvox import __version__
    from twinvox._native.cpu import simd_level
    from twinvox.backends import MODELS_DIR_ENV
    from twinvox.runtime import choose_runtime, default_threads
    from twinvox.runtime.cache import cache_dir
    from twinvox.voice import shipped_voices

    runtime, reason = choose_runtime()
    _print_rows(
        {
            "version": __version__,
            "runtime": f"{runtime} ({reason})",
            "threads": str(default_threads()),
            "kernels": f"portable, {simd_level()}",
            "voices": ", ".join(shipped_voices()),
            "models": os.environ.get(MODELS_DIR_ENV, f"{MODELS_DIR_ENV} is not set"),
            "cache": str(cache_dir()),
        }
    )


def _print_rows(rows: dict[str, Any]) -> None:
    width = max(map(len, rows))
    for key, value in rows.items():
        print(f"{key:{width}}  {value}")
