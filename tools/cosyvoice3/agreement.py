"""What precision="int8" does to the decode steps: python -m tools.cosyvoice3.agreement DIR

The fp32 model speaks ``--steps`` tokens; then the int8 model reads the same tokens, and its logits
and the tokens that it would have drawn with the same random numbers are compared, step by step.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from twinvox._native.ras import RasSampler
from twinvox.backends.base import Progress
from twinvox.backends.cosyvoice3 import contract
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.folder import open_folder
from twinvox.backends.cosyvoice3.lm import Decoder, Embeddings, Sampler
from twinvox.runtime import open_session
from twinvox.runtime.base import check_contract

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]


class Recorder:
    """Draws as the synthesizer does and keeps the logits; says ``tokens`` where they are given."""

    def __init__(self, seed: int, tokens: Ids | None = None) -> None:
        rule = {name: getattr(CONTRACT, name) for name in ("top_p", "top_k", "win_size", "tau_r")}
        self._draw = RasSampler(seed, **rule)
        self._tokens = tokens
        self.logits: list[Floats] = []
        self.drawn: list[int] = []

    def sample(self, logits: Floats, /) -> int:
        step = len(self.drawn)
        self.logits.append(logits.reshape(-1).copy())
        self.drawn.append(self._draw.sample(np.ascontiguousarray(logits)))
        return self.drawn[-1] if self._tokens is None else int(self._tokens[step])


def speak(folder: Path, precision: str, sampler: Sampler, steps: int, threads: int) -> Ids:
    found = open_folder(folder)
    prefill = open_session(found.llm_prefill, threads=threads)
    check_contract(prefill, contract.llm_prefill())
    decode = open_session(found.llm_decode, threads=threads, precision=precision)
    check_contract(decode, contract.llm_decode())
    embeddings = Embeddings.open(found.embeddings, found.speech_embedding)
    rng = np.random.default_rng(1)
    text = rng.integers(0, 150_000, 40, dtype=np.int32)
    prompt = rng.integers(0, CONTRACT.first_stop_id, 40, dtype=np.int32)
    decoder = Decoder(prefill, decode, embeddings)
    return decoder.generate(text, prompt, sampler, steps, Progress(1, None)).tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()

    exact = Recorder(seed=1)
    tokens = speak(arguments.folder, "fp32", exact, arguments.steps, arguments.threads)
    int8 = Recorder(1, tokens)
    speak(arguments.folder, "int8", int8, len(tokens), arguments.threads)

    wanted, got = np.stack(exact.logits[1:]), np.stack(int8.logits[1:])  # the first is prefill's
    wanted, got = (x - x.mean(axis=1, keepdims=True) for x in (wanted, got))
    same = np.array(exact.drawn[1:]) == np.array(int8.drawn[1:])
    print(
        json.dumps(
            {
                "steps": len(same),
                "logit_rms": float(np.sqrt(np.mean(wanted**2))),
                "logit_rms_error": float(np.sqrt(np.mean((got - wanted) ** 2))),
                "likeliest_agrees": float(np.mean(got.argmax(1) == wanted.argmax(1))),
                "draw_agrees": float(np.mean(same)),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
