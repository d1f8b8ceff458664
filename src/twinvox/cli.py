"""The command line: ``twinvox say | g2p | voice | parity | info``."""

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
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
    from twinvox.backends.cosyvoice3 import parity_cli

    parser = argparse.ArgumentParser(
        prog="twinvox", description="On-device zero-shot voice cloning."
    )
    parser.add_argument("--version", action="version", version=f"twinvox {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_say(commands.add_parser("say", help="speak a text into a WAV file"))
    _add_g2p(commands.add_parser("g2p", help="print the IPA of a text"))
    _add_voice(commands.add_parser("voice", help="make and inspect voices"))
    parity_cli.add_harnesses(
        commands.add_parser(
            "parity", help="compare CosyVoice3, stage by stage, with a recorded run"
        )
    )
    info = commands.add_parser("info", help="show version, runtime, kernels and model folders")
    info.set_defaults(run=_info)
    return parser


def _add_text(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", metavar="TEXT", help="what to say; - reads stdin")
    parser.add_argument("--text-file", type=Path, metavar="FILE", help="read the text from FILE")


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
        "--prompt-text", metavar="TEXT", required=required, help="what the recording says"
    )
    parser.add_argument("--trim", action="store_true", help="remove the recording's edge silence")


def _add_say(parser: argparse.ArgumentParser) -> None:
    from twinvox.backends.base import DEFAULT_SEED
    from twinvox.backends.cosyvoice3 import options as cosyvoice3

    _add_text(parser)
    parser.add_argument(
        "-o", "--output", default="out.wav", metavar="WAV", help="default: out.wav; - is stdout"
    )
    _add_model(parser)
    parser.add_argument("--voice", metavar="FILE|ID", help="voice file, or a voice that ships")
    _add_prompt(parser, required=False)
    parser.add_argument("--phonemes", action="store_true", help="TEXT is IPA")
    _add_normalization(parser)
    parser.add_argument("--speed", type=float, default=1.0, metavar="F", help="0.5 to 2.0")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    cosyvoice3.add_options(parser)
    parser.set_defaults(run=_say, error=parser.error)


def _add_g2p(parser: argparse.ArgumentParser) -> None:
    from twinvox.text.en_normalizer import DEFAULT_NORMALIZATION, NORMALIZATIONS

    _add_text(parser)
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
    from twinvox.backends.cosyvoice3 import options as cosyvoice3

    if arguments.models_dir is not None and arguments.backend == "embedded":
        arguments.error("--models-dir goes with --backend luxtts or cosyvoice3")
    cosyvoice3.check_options(arguments)
    if arguments.backend in cosyvoice3.NAMES:
        print("twinvox: the CosyVoice3 backend is a beta: expect changes", file=sys.stderr)
    return load(
        arguments.backend,
        models_dir=arguments.models_dir,
        variant=arguments.variant,
        **cosyvoice3.load_options(arguments),
        runtime=arguments.runtime,
        threads=arguments.threads,
        compute_units=arguments.compute_units,
        precision=arguments.precision,
    )


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
    if (arguments.prompt_audio is None) != (arguments.prompt_text is None):
        arguments.error("--prompt-audio and --prompt-text go together")
    if arguments.prompt_audio is not None and arguments.voice is not None:
        arguments.error("give --voice or --prompt-audio, not both")
    if arguments.json and arguments.output == "-":
        arguments.error("--json and -o - both write to stdout")
    text = _read_text(arguments)
    tts = _load(arguments)
    voice = arguments.voice or arguments.prompt_assets
    if arguments.prompt_audio is not None:
        voice = tts.voice(
            arguments.prompt_audio,
            arguments.prompt_text,
            trim=arguments.trim,
            **_normalization(arguments),
        )
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


def _g2p(arguments: argparse.Namespace) -> None:
    corpus, out = arguments.corpus, arguments.out
    if corpus is None:
        if out is not None:
            arguments.error("--out goes with --corpus")
        (row,) = _phoneme_rows([_read_text(arguments)], arguments.normalization)
        print(row["phonemes"])
        _warn_of_skipped(row["skipped"])
        return
    if out is None or arguments.text is not None:
        arguments.error("--corpus goes with --out JSONL and without TEXT")
    left_out: dict[str, None] = {}
    with corpus.open(encoding="utf-8") as lines, out.open("w", encoding="utf-8") as rows:
        texts = (line.rstrip("\n") for line in lines)
        for row in _phoneme_rows(texts, arguments.normalization):
            rows.write(json.dumps(row, ensure_ascii=False) + "\n")
            left_out.update(dict.fromkeys(row["skipped"]))
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
    from twinvox._native.cpu import simd_level, spectrum_kernels
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
