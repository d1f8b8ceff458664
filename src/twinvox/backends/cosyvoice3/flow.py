"""The flow: speech tokens to log-mel frames."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from twinvox.backends.base import Ids, OpenModel
from twinvox.backends.cosyvoice3 import contract
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.prompt import Prompt
from twinvox.errors import SynthesisError
from twinvox.runtime.base import Session, check_contract

Mel = npt.NDArray[Any]
"""float16 or float32 [n_mels, frames] of any strides."""


def open_flow(path: Path, open_model: OpenModel) -> Session:
    """The model at ``path``, whose mel may be of either precision. Raises ContractError."""
    session = open_model(path)
    mel = session.outputs.get("mel")
    half = mel is not None and mel.dtype == np.float16
    check_contract(session, contract.flow(np.float16 if half else np.float32))
    return session


def decode_flow(session: Session, prompt: Prompt, tokens: Ids) -> tuple[Mel, int]:
    """Log-mel [n_mels, 2 * len(tokens)] of the new ``tokens``, less where the model's end is near.

    Prompt and new tokens together are at most ``flow_tokens``. Also how many frames the model
    counts as the prompt's.
    """
    n_prompt = len(prompt.speech_ids)
    token_total = np.zeros((1, CONTRACT.flow_tokens), np.int32)
    token_total[0, :n_prompt] = prompt.speech_ids
    token_total[0, n_prompt : n_prompt + len(tokens)] = tokens
    prompt_feat = np.zeros((1, CONTRACT.flow_frames, CONTRACT.n_mels), np.float32)
    prompt_feat[0, : len(prompt.mel)] = prompt.mel
    result = session.run(
        {
            "token_total": token_total,
            "num_prompt_tokens": np.array([n_prompt], np.int32),
            "prompt_feat": prompt_feat,
            "embedding": prompt.speaker_embedding[None],
        }
    )
    start = int(result["num_prompt_mel"][0])
    if not 0 <= start < CONTRACT.flow_frames:
        raise SynthesisError(
            f"the flow says that {start} of its {CONTRACT.flow_frames} mel frames are the "
            "prompt's, which leaves none; use a shorter prompt"
        )
    return result["mel"][0, :, start : start + CONTRACT.token_mel_ratio * len(tokens)], start
