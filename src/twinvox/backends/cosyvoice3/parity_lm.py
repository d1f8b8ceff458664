"""The recorded tokens through the language model: how likely it found each of them."""

from dataclasses import dataclass

import numpy as np

from twinvox.backends.base import Ids, OpenModel, Progress, open_checked
from twinvox.backends.cosyvoice3 import contract
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.folder import ModelFolder
from twinvox.backends.cosyvoice3.lm import Decoder, Embeddings, open_decoded
from twinvox.backends.cosyvoice3.prompt import Float32

_NO_IDS: Ids = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class _RecordedInput(Embeddings):
    """The recorded rows in place of those of text and prompt."""

    rows: Float32

    def assemble(self, text_ids: Ids, prompt_speech_ids: Ids, out: Float32) -> int:
        out[: len(self.rows)] = self.rows
        out[len(self.rows) :] = 0
        return len(self.rows)


class _Replay:
    """A sampler that returns the recorded tokens and keeps the rank of each, 0 the likeliest.

    ``drawable`` tells whether RAS could have drawn the token: it is one of the ``top_k`` likeliest,
    or one of those was said so lately that it may have been replaced.
    """

    def __init__(self, tokens: Ids) -> None:
        self._tokens = tokens
        self.ranks: list[int] = []
        self.drawable: list[bool] = []

    def sample(self, logits: Float32) -> int:
        step = len(self.ranks)
        order = np.argsort(-logits.reshape(-1), kind="stable")
        token = int(self._tokens[step])
        self.ranks.append(int(np.flatnonzero(order == token)[0]))
        recent = self._tokens[max(0, step - CONTRACT.win_size) : step]
        counts = (np.isin(recent, likely).sum() for likely in order[: CONTRACT.top_k])
        repeated = max(counts) >= CONTRACT.win_size * CONTRACT.tau_r
        self.drawable.append(self.ranks[-1] < CONTRACT.top_k or bool(repeated))
        return token


def replay(
    folder: ModelFolder, open_model: OpenModel, rows: Float32, tokens: Ids
) -> tuple[list[int], list[bool]]:
    """The rank of each of ``tokens`` after the recorded input ``rows`` [t_pre, embed_dim] and the
    tokens before it, and whether it could have been drawn."""
    prefill = open_checked(open_model, folder.llm_prefill, contract.llm_prefill())
    decode = open_checked(open_model, folder.llm_decode, contract.llm_decode())
    table = open_decoded(folder.speech_embedding)
    sampler = _Replay(tokens)
    decoder = Decoder(prefill, decode, _RecordedInput(table, table, table, rows))
    decoder.generate(_NO_IDS, _NO_IDS, sampler, len(tokens), Progress(1, None))
    return sampler.ranks, sampler.drawable
