"""The command line: ``twinvox say | g2p | voice | models | bench | parity | info``."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from twinvox import g2p_cli
from twinvox.console import (
    check_writable,
    flush_stdout,
    message,
    open_closed_streams,
    warnings_on_stderr,
)
from twinvox.errors import TwinvoxError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns 0 on success, 1 on failure (2 is argparse's, for wrong use)."""
    open_closed_streams()
    parser = _parser()
    arguments = parser.parse_args(argv)
    with warnings_on_stderr():
        try:
            try:
                arguments.run(arguments)
            finally:
                flush_stdout()
        except (TwinvoxError, ValueError, OSError) as error:
            print(f"twinvox: {message(error)}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("twinvox: interrupted", file=sys.stderr)
            return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    from twinvox import __version__, models_cli
    from twinvox.backends.cosyvoice3 import parity_cli
    from twinvox.bench import cli as bench_cli

    parser = argparse.ArgumentParser(
        prog="twinvox", description="On-device zero-shot voice cloning."
    )
    parser.add_argument("--version", action="version", version=f"twinvox {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_say(commands.add_parser("say", help="speak a text into a WAV file"))
    g2p_cli.add_g2p(commands.add_parser("g2p", help="print the IPA of a text"))
    _add_voice(commands.add_parser("voice", help="make, inspect and fetch voices"))
    models_cli.add_model_actions(
        commands.add_parser("models", help="fetch, verify and inspect models")
    )
    bench = commands.add_parser("bench", help="measure speed and intelligibility on a corpus")
    _add_synthesis(bench)
    bench_cli.add_options(bench)
    bench.set_defaults(run=_bench, phonemes=False, error=bench.error)
    parity_cli.add_harnesses(
        commands.add_parser(
            "parity", help="compare CosyVoice3, stage by stage, with a recorded run"
        )
    )
    info = commands.add_parser("info", help="show version, runtime, kernels and model folders")
    info.set_defaults(run=_info)
    return parser


def _add_normalization(parser: argparse.ArgumentParser) -> None:
    from twinvox.backends.cosyvoice3.options import NORMALIZATIONS as MANDARIN
    from twinvox.text.en_normalizer import NORMALIZATIONS as ENGLISH

    parser.add_argument(
        "--normalization",
        choices=tuple(dict.fromkeys((*ENGLISH, *MANDARIN))),
        help=f"how numbers, dates and units are read: {', '.join(ENGLISH)} in English, "
        f"{', '.join(MANDARIN)} in Mandarin (default: the first)",
    )


def _add_model(parser: argparse.ArgumentParser) -> None:
    from twinvox.backends import BACKENDS
    from twinvox.backends.luxtts.folder import VARIANTS
    from twinvox.runtime import PRECISIONS, RUNTIMES
    from twinvox.runtime.compute_units import UNITS

    parser.add_argument("--backend", choices=BACKENDS, default="embedded")
    parser.add_argument(
        "--models-dir", type=Path, metavar="DIR", help="models in the backend's published layout"
    )
    parser.add_argument("--offline", action="store_true", help="fetch nothing")
    parser.add_argument("--variant", choices=VARIANTS, help="graph variant of the LuxTTS models")
    parser.add_argument("--runtime", choices=RUNTIMES, default="auto")
    parser.add_argument(
        "--threads", type=int, metavar="N", help="default: the physical cores, at most 4"
    )
    parser.add_argument(
        "--compute-units",
        metavar="UNITS",
        help=f"on Core ML: {', '.join(UNITS)}, or STAGE=UNIT,… for stages of timings_ms "
        "(default: where each stage is known to work)",
    )
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        default=PRECISIONS[0],
        help="int8: faster, less exact (default: %(default)s)",
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
        "--prompt-text", metavar="TEXT", help="what the recording says (default: transcribe it)"
    )
    parser.add_argument(
        "--asr-model",
        metavar="DIR|NAME",
        help="Whisper model that transcribes: a folder, or a name such as small (default: base)",
    )
    parser.add_argument("--trim", action="store_true", help="remove the recording's edge silence")


def _add_synthesis(parser: argparse.ArgumentParser) -> None:
    """Everything that ``_load``, ``_make_voice`` and ``_stream_options`` read, but for phonemes."""
    from twinvox.backends.base import DEFAULT_SEED
    from twinvox.backends.cosyvoice3 import options as cosyvoice3

    _add_model(parser)
    parser.add_argument("--voice", metavar="FILE|ID", help="voice file, or a voice that ships")
    _add_prompt(parser, required=False)
    _add_normalization(parser)
    parser.add_argument("--speed", type=float, default=1.0, metavar="F", help="0.5 to 2.0")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="N")
    cosyvoice3.add_options(parser)


def _add_say(parser: argparse.ArgumentParser) -> None:
    g2p_cli.add_text(parser)
    parser.add_argument(
        "-o", "--output", default="out.wav", metavar="WAV", help="default: out.wav; - is stdout"
    )
    _add_synthesis(parser)
    parser.add_argument("--phonemes", action="store_true", help="TEXT is IPA")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=_say, error=parser.error)


def _add_voice(parser: argparse.ArgumentParser) -> None:
    from twinvox import models_cli

    actions = parser.add_subparsers(required=True, metavar="ACTION")
    make = actions.add_parser("make", help="make a voice from a recording and its transcript")
    _add_prompt(make, required=True)
    make.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.safetensors")
    make.set_defaults(run=_voice_make, offline=False)
    info = actions.add_parser("info", help="describe a voice; without one, list those that ship")
    info.add_argument("voice", nargs="?", metavar="FILE|ID")
    info.set_defaults(run=_voice_info)
    models_cli.add_voice_actions(actions)


def _check_synthesis(arguments: argparse.Namespace) -> None:
    from twinvox.backends.cosyvoice3 import options as cosyvoice3

    cosyvoice3.check_options(arguments)
    if arguments.prompt_audio is None and arguments.prompt_text is not None:
        arguments.error("--prompt-text goes with --prompt-audio")
    if arguments.prompt_audio is None and arguments.trim:
        arguments.error("--trim goes with --prompt-audio")
    if arguments.prompt_audio is not None and arguments.voice is not None:
        arguments.error("give --voice or --prompt-audio, not both")
    if arguments.models_dir is not None and arguments.backend == "embedded":
        arguments.error("--models-dir goes with --backend luxtts or cosyvoice3")
    if arguments.variant is not None and arguments.backend != "luxtts":
        arguments.error("--variant goes with --backend luxtts")


def _load(arguments: argparse.Namespace) -> Any:
    from twinvox import load
    from twinvox.backends.cosyvoice3 import options as cosyvoice3

    if arguments.backend in cosyvoice3.NAMES:
        print("twinvox: the CosyVoice3 backend is a beta: expect changes", file=sys.stderr)
    return load(
        arguments.backend,
        models_dir=arguments.models_dir,
        offline=arguments.offline,
        variant=arguments.variant,
        **cosyvoice3.load_options(arguments),
        runtime=arguments.runtime,
        threads=arguments.threads,
        compute_units=arguments.compute_units,
        precision=arguments.precision,
    )


def _make_voice(arguments: argparse.Namespace, tts: Any) -> Any:
    if arguments.prompt_audio is None:
        return arguments.voice or arguments.prompt_assets
    return tts.voice(
        arguments.prompt_audio,
        arguments.prompt_text,
        trim=arguments.trim,
        transcriber=_transcriber(arguments),
        **_normalization(arguments),
    )


def _transcriber(arguments: argparse.Namespace) -> Any:
    """The recogniser, where it is not the default one or may not be fetched."""
    from twinvox.asr import DEFAULT_MODEL, Whisper

    default = arguments.asr_model is None and not arguments.offline
    if default or arguments.prompt_text is not None:
        return None
    return Whisper(arguments.asr_model or DEFAULT_MODEL, offline=arguments.offline)


def _stream_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the chosen backend's ``stream`` takes beyond text, voice, seed and progress."""
    from twinvox.backends.cosyvoice3 import options as cosyvoice3

    if arguments.backend in cosyvoice3.NAMES:
        return cosyvoice3.stream_options(arguments)
    luxtts = {"speed": arguments.speed, "phonemes": arguments.phonemes}
    return luxtts | _normalization(arguments)


def _normalization(arguments: argparse.Namespace) -> dict[str, Any]:
    """The backend's own default where none is given."""
    given = arguments.normalization
    return {} if given is None else {"normalization": given}


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
    _check_synthesis(arguments)
    if arguments.json and arguments.output == "-":
        arguments.error("--json and -o - both write to stdout")
    text = g2p_cli.read_text(arguments)
    if arguments.output != "-":
        check_writable(Path(arguments.output))
    tts = _load(arguments)
    voice = _make_voice(arguments, tts)
    started = time.perf_counter()
    parts, first_audio = [], 0.0
    with _progress_bar() as progress:
        for part in tts.stream(
            text,
            voice,
            seed=arguments.seed,
            progress=progress,
            **_stream_options(arguments),
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
        if speech.decoded_tokens is not None:
            report["generated_token_count"] = speech.generated_token_count
        print(json.dumps(report, ensure_ascii=False))
    elif arguments.output != "-":
        print(f"{arguments.output}: {speech.seconds:.2f} s of speech, {rtfx:.1f}x real time")


def _join(parts: list[Any]) -> Any:
    from twinvox.backends.base import join_parts

    return join_parts(parts, parts[0].sample_rate, parts[0].seed)


def _bench(arguments: argparse.Namespace) -> None:
    from twinvox.bench import cli as bench_cli

    if arguments.compare is not None:
        bench_cli.compare(arguments)
        return
    _check_synthesis(arguments)
    bench_cli.run(
        arguments,
        partial(_load, arguments),
        partial(_make_voice, arguments),
        {"seed": arguments.seed, **_stream_options(arguments)},
    )


def _voice_make(arguments: argparse.Namespace) -> None:
    from twinvox import load

    tts = load()
    voice = tts.voice(
        arguments.prompt_audio,
        arguments.prompt_text,
        trim=arguments.trim,
        transcriber=_transcriber(arguments),
    )
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
    from twinvox._native.cpu import simd_level, spectrum_kernels
    from twinvox.hub.places import MODELS_DIR_ENV
    from twinvox.runtime import choose_runtime, default_threads
    from twinvox.runtime.cache import cache_dir
    from twinvox.voice import shipped_voices

    runtime, reason = choose_runtime()
    _print_rows(
        {
            "version": __version__,
            "runtime": f"{runtime} ({reason})",
            "threads": str(default_threads()),
            "kernels": f"{spectrum_kernels()}, {simd_level()}",
            "voices": ", ".join(shipped_voices()),
            "models": os.environ.get(MODELS_DIR_ENV, f"{MODELS_DIR_ENV} is not set"),
            "cache": str(cache_dir()),
        }
    )


def _print_rows(rows: dict[str, Any]) -> None:
    width = max(map(len, rows))
    for key, value in rows.items():
        print(f"{key:{width}}  {value}")
