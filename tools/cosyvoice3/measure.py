"""Times a full-size CosyVoice3 folder of ``random_models`` beside torch and bare onnxruntime.

    python -m tools.cosyvoice3.measure DIR [--rounds 5] [--steps 10] [--only PART] [--text TEXT]

The ways to decode a token take turns in one process, so that each meets the same machine; what a
load or a whole synthesis costs is seen in processes of their own. One thread each. PART is decode,
models or synthesis. A Markdown table goes to stdout, then the same as JSON.
"""

import argparse
import gc
import json
import multiprocessing
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import twinvox
from twinvox._native.ras import RasSampler
from twinvox.backends.base import Progress
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.lm import Decoder, Embeddings
from twinvox.bench.run import peak_rss_mb
from twinvox.errors import SynthesisWarning
from twinvox.runtime import PRECISIONS, open_session
from twinvox.runtime.base import Session

Arrays = dict[str, Any]
Results = dict[str, Any]
Turn = Callable[[int], list[float]]
"""Runs so many steps and says the seconds of each."""

TEXT = "今天的天气真好，我们一起去公园里散步，看看湖边的花开了没有。"
_MODELS = ("prefill", "decode", "flow", "hift")
_PARTS = ("decode", "models", "synthesis")
_ROWS = 150  # of the prompt, and of the cache at the first step
_TOKENS = 200  # of the flow, prompt included
_PROMPT_TOKENS = 87


def example(model: str) -> Arrays:
    """Inputs of a model, full of noise, as a synthesis would fill them."""
    rng = np.random.default_rng(len(model))

    def noise(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    def count(number: int) -> np.ndarray:
        return np.array([number], np.int32)

    if model == "prefill":
        embeds = 0.1 * noise(1, CONTRACT.prefill_tokens, CONTRACT.embed_dim)
        embeds[:, _ROWS:] = 0
        return {"inputs_embeds": embeds, "input_len": count(_ROWS)}
    if model == "decode":
        caches = {name: noise(*CONTRACT.kv_shape) for name in ("kv_k", "kv_v")}
        for cache in caches.values():
            cache[..., _ROWS:, :] = 0
        embed = 0.1 * noise(1, 1, CONTRACT.embed_dim)
        return {"inputs_embeds": embed, "cur_len": count(_ROWS), **caches}
    if model == "flow":
        tokens = rng.integers(0, CONTRACT.first_stop_id, (1, CONTRACT.flow_tokens), np.int32)
        tokens[:, _TOKENS:] = 0
        return {
            "token_total": tokens,
            "num_prompt_tokens": count(_PROMPT_TOKENS),
            "prompt_feat": 2 * noise(1, CONTRACT.flow_frames, CONTRACT.n_mels) - 6,
            "embedding": noise(1, CONTRACT.speaker_dim),
        }
    mel = 2 * noise(1, CONTRACT.n_mels, CONTRACT.flow_frames) - 6
    return {"mel": mel, "num_valid_frames": count(2 * (_TOKENS - _PROMPT_TOKENS))}


def measure_decode(folder: Path, rounds: int, steps: int) -> Results:
    """Median milliseconds of a token, each way."""
    inputs = example("decode")
    ways: dict[str, Turn] = {"torch eager": _each(_torch_step(inputs))}
    prefill = _open(folder, "prefill", "int8")
    for precision in PRECISIONS:
        session = _open(folder, "decode", precision)
        outputs = {name: np.empty(spec.shape, spec.dtype) for name, spec in session.outputs.items()}
        bare = session._session.run  # what a caller without twinvox would have
        ways[f"onnxruntime {precision}"] = _each(partial(bare, None, inputs))
        ways[f"onnxruntime {precision}, bound"] = _each(session.bind(inputs, outputs))
        ways[f"twinvox {precision}, loop"] = _loop(prefill, session, _embeddings(folder))
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, turn in ways.items():
            seconds[name] += turn(steps)
    return {name: 1e3 * statistics.median(taken) for name, taken in seconds.items()}


def _each(step: Callable[[], object]) -> Turn:
    def turn(steps: int) -> list[float]:
        step()  # the caches hold another way's weights
        return [_seconds(step) for _ in range(steps)]

    return turn


def _loop(prefill: Session, decode: Session, embeddings: Embeddings) -> Turn:
    decoder = Decoder(prefill, decode, embeddings)
    rng = np.random.default_rng(1)
    text = rng.integers(0, CONTRACT.text_vocab, _ROWS - _PROMPT_TOKENS - 2, np.int32)
    prompt = rng.integers(0, CONTRACT.first_stop_id, _PROMPT_TOKENS, np.int32)
    rule = {name: getattr(CONTRACT, name) for name in ("top_p", "top_k", "win_size", "tau_r")}

    def turn(steps: int) -> list[float]:
        ends: list[float] = []  # of the prefill, of one step to warm up, then of each step
        sampler = RasSampler(1, **rule, min_tokens=steps + 2, first_stop_id=CONTRACT.first_stop_id)
        progress = Progress(1, lambda *_: ends.append(time.perf_counter()))
        decoder.generate(text, prompt, sampler, steps + 2, progress)
        return np.diff(ends[1 : steps + 2]).tolist()

    return turn


def _torch_step(inputs: Arrays) -> Callable[[], object]:
    import torch

    from .random_models import MODULES

    torch.set_num_threads(1)
    module = MODULES["decode"]().eval()
    tensors = [torch.from_numpy(array) for array in inputs.values()]
    return torch.no_grad()(partial(module, *tensors))


def _open(folder: Path, model: str, precision: str) -> Session:
    from .random_models import PACKAGES

    return open_session(folder / f"{PACKAGES[model][0]}.mlpackage", threads=1, precision=precision)


def _embeddings(folder: Path) -> Embeddings:
    tables = folder / "embeddings"
    return Embeddings.open(
        tables / "embeddings-runtime-fp32.safetensors",
        tables / "speech_embedding-fp16.safetensors",
    )


def measure_model(folder: Path, model: str, runs: int) -> Results:
    """Seconds of a run, and how far the package is from torch: largest error by range of values."""
    import torch

    from .random_models import MODULES

    torch.set_num_threads(1)
    inputs = example(model)
    module = MODULES[model]().eval()
    tensors = [torch.from_numpy(array) for array in inputs.values()]
    with torch.no_grad():
        start = time.perf_counter()
        wanted = [result.numpy() for result in module(*tensors)]
        results: Results = {"torch": {"seconds": time.perf_counter() - start, "errors": {}}}
    del module
    for precision in PRECISIONS:
        session = _open(folder, model, precision)
        got = session.run(inputs)
        results[precision] = {
            "seconds": statistics.median(
                _seconds(partial(session.run, inputs)) for _ in range(runs)
            ),
            "errors": {
                name: float(np.abs(value.astype(np.float32) - want).max() / (np.ptp(want) or 1))
                for (name, value), want in zip(got.items(), wanted, strict=True)
            },
        }
        del session
        gc.collect()
    return results


def measure_synthesis(folder: Path, text: str, precision: str) -> Results:
    """A process with an empty cache of translated graphs, then one that finds them there."""
    spawned = multiprocessing.get_context("spawn")
    results = {}
    with tempfile.TemporaryDirectory() as cache:
        for state in ("cold", "warm"):
            with spawned.Pool(1) as pool:
                results[state] = pool.apply(_speak, (folder, text, precision, cache))
    return results


def _speak(folder: Path, text: str, precision: str, cache: str) -> Results:
    os.environ["TWINVOX_CACHE_DIR"] = cache
    start = time.perf_counter()
    tts = twinvox.load(folder, threads=1, precision=precision)
    loaded = time.perf_counter()
    warnings.simplefilter("ignore", SynthesisWarning)  # random weights seldom end by themselves
    speech = tts.synthesize(text)
    seconds = time.perf_counter() - loaded
    return {
        "load_s": loaded - start,
        "synthesis_s": seconds,
        "audio_s": speech.seconds,
        "rtfx": speech.seconds / seconds,
        "tokens": speech.generated_token_count,
        "segments": len(speech.segments),
        "stages_s": dict(speech.timings),
        "peak_gb": peak_rss_mb() * 2**20 / 1e9,
    }


def _table(results: Results) -> list[str]:
    rows = [
        f"token, {way} | {milliseconds:.1f} ms"
        for way, milliseconds in results.get("decode", {}).items()
    ]
    for model, ways in results.get("models", {}).items():
        for way, run in ways.items():
            errors = "".join(f"; {name} {error:.1e}" for name, error in run["errors"].items())
            rows.append(f"{model}, {way} | {run['seconds']:.3f} s{errors}")
    for precision, states in results.get("synthesis", {}).items():
        for state, run in states.items():
            rows.append(
                f"{precision}, {state} cache | load {run['load_s']:.1f} s; "
                f"{run['audio_s']:.2f} s of audio in {run['synthesis_s']:.1f} s, "
                f"{run['rtfx']:.3f}x; peak {run['peak_gb']:.1f} GB"
            )
    return ["| measured | |", "|---|---|", *(f"| {row} |" for row in rows)]


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10, help="of each way in a round")
    parser.add_argument("--only", choices=_PARTS, action="append", help="may be given again")
    parser.add_argument("--models", nargs="+", choices=_MODELS, default=_MODELS)
    parser.add_argument("--text", default=TEXT)
    arguments = parser.parse_args()
    parts = arguments.only or _PARTS
    results: Results = {}
    if "decode" in parts:
        results["decode"] = measure_decode(arguments.folder, arguments.rounds, arguments.steps)
        gc.collect()
    if "models" in parts:
        results["models"] = {
            model: measure_model(arguments.folder, model, arguments.rounds)
            for model in arguments.models
        }
    if "synthesis" in parts:
        results["synthesis"] = {
            precision: measure_synthesis(arguments.folder, arguments.text, precision)
            for precision in PRECISIONS
        }
    print(*_table(results), json.dumps(results, indent=1), sep="\n")


if __name__ == "__main__":
    main()
