"""The language model: text and prompt to speech tokens, one a step.

The KV cache is three pairs of arrays that belong to one synthesis. A step reads the front pair and
writes the back pair, then the pairs rotate, so that nothing is copied; the spare pair is what keeps
a result that is still being read from being overwritten.
"""

import mmap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from twinvox._native.rows import compact
from twinvox.backends.base import Ids, Progress, Timings
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.prompt import Float32
from twinvox.errors import SynthesisError
from twinvox.runtime.base import Array, Session
from twinvox.tables import EmbeddingTable

N_PAIRS = 3
_SOS = np.array([CONTRACT.sos], np.int32)
_TASK = np.array([CONTRACT.task], np.int32)


class Sampler(Protocol):
    """Chooses the next token; a RasSampler, but where tokens are replayed."""

    def sample(self, logits: Float32, /) -> int: ...


@dataclass(frozen=True, slots=True)
class Embeddings:
    """``text`` and ``speech`` make the prefill's input, ``decoded`` the input of each step."""

    text: EmbeddingTable
    speech: EmbeddingTable
    decoded: EmbeddingTable

    @classmethod
    def open(cls, embeddings: Path, decoded: Path) -> "Embeddings":
        """``embeddings`` holds both tables of the prefill, ``decoded`` the one of the steps."""
        return cls(
            _open_table(embeddings, "text_embedding", CONTRACT.text_vocab),
            _open_table(embeddings, "speech_embedding", CONTRACT.speech_vocab),
            open_decoded(decoded),
        )

    def assemble(self, text_ids: Ids, prompt_speech_ids: Ids, out: Float32) -> int:
        """Write [sos, text, task, prompt speech] to ``out`` [prefill_tokens, embed_dim].

        The rows after them are zeroed. Returns their number, which must fit.
        """
        end = 0
        for table, ids in (
            (self.speech, _SOS),
            (self.text, text_ids),
            (self.speech, _TASK),
            (self.speech, prompt_speech_ids),
        ):
            start, end = end, end + len(ids)
            table.gather(ids, out[start:end])
        out[end:] = 0
        return end


def open_decoded(path: Path) -> EmbeddingTable:
    """The table of the tokens that the model itself has made."""
    return _open_table(path, "speech_embedding", CONTRACT.speech_vocab)


def _open_table(path: Path, name: str, rows: int) -> EmbeddingTable:
    return EmbeddingTable.open(path, name, (rows, CONTRACT.embed_dim))


@dataclass(frozen=True, slots=True)
class Generated:
    """The speech tokens of one segment; ``cap`` is how many there could have been.

    ``declined`` are the outputs for which the runtime did not take the buffers offered.
    """

    tokens: Ids
    finished_on_eos: bool
    cap: int
    declined: tuple[str, ...]
    timings: Mapping[str, float]


class Decoder:
    """Generates the segments of one synthesis, one after the other. Owns their buffers."""

    def __init__(self, prefill: Session, decode: Session, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._declined: dict[str, None] = {}
        pairs = [(_kv_buffer(), _kv_buffer()) for _ in range(N_PAIRS)]
        vocab = CONTRACT.speech_vocab

        self._prompt = np.zeros((1, CONTRACT.prefill_tokens, CONTRACT.embed_dim), np.float32)
        self._prompt_len = np.zeros(1, np.int32)
        self._prompt_logits = np.empty((1, CONTRACT.prefill_tokens, vocab), np.float32)
        kv_k, kv_v = pairs[0]
        self._prefill = self._bind(
            prefill,
            {"inputs_embeds": self._prompt, "input_len": self._prompt_len},
            {"speech_logits": self._prompt_logits, "kv_k": kv_k, "kv_v": kv_v},
        )

        token_embed = np.zeros((1, 1, CONTRACT.embed_dim), np.float32)
        self._token = np.zeros(1, np.int32)
        self._token_embed = token_embed[0]
        self._cur_len = np.zeros(1, np.int32)
        self._logits = np.empty((1, 1, vocab), np.float32)
        self._steps = [
            self._bind(
                decode,
                {
                    "inputs_embeds": token_embed,
                    "cur_len": self._cur_len,
                    "kv_k": front_k,
                    "kv_v": front_v,
                },
                {"speech_logits": self._logits, "kv_k_out": back_k, "kv_v_out": back_v},
            )
            for (front_k, front_v), (back_k, back_v) in zip(
                pairs, pairs[1:] + pairs[:1], strict=True
            )
        ]

    def generate(
        self,
        text_ids: Ids,
        prompt_speech_ids: Ids,
        sampler: Sampler,
        max_new_tokens: int,
        progress: Progress,
    ) -> Generated:
        """The speech tokens of ``text_ids``, without the stop token, at most ``max_new_tokens``.

        Raises SynthesisError where the first token already ends the speech.
        """
        timings = Timings()
        tokens = np.empty(max_new_tokens, np.int32)
        with timings.measure("prefill"):
            length = self._embeddings.assemble(text_ids, prompt_speech_ids, self._prompt[0])
            self._prompt_len[0] = length
            self._prefill()
            token = sampler.sample(self._prompt_logits[0, length - 1])
        if token >= CONTRACT.first_stop_id:
            raise SynthesisError(
                f"no speech: the model's first token is the stop token {token}; try another "
                "seed, voice or text, or min_token_text_ratio=2"
            )
        progress.step("prefill")
        with timings.measure("decode"):
            tokens[0] = token
            count, finished = self._decode(tokens, length, sampler, progress)
        progress.step("decode")
        return Generated(tokens[:count], finished, max_new_tokens, tuple(self._declined), timings)

    def _decode(
        self, tokens: Ids, length: int, sampler: Sampler, progress: Progress
    ) -> tuple[int, bool]:
        """Fill ``tokens`` from the second on: their number, and whether a stop token followed.

        Each token pays for this loop, so nothing in it allocates an array.
        """
        self._cur_len[0] = length
        for count in range(1, len(tokens)):
            self._token[0] = tokens[count - 1]
            self._embeddings.decoded.gather(self._token, self._token_embed)
            self._steps[(count - 1) % N_PAIRS]()
            token = sampler.sample(self._logits)
            self._cur_len[0] += 1
            if token >= CONTRACT.first_stop_id:
                return count, True
            tokens[count] = token
            progress.poll("decode")
        return len(tokens), False

    def _bind(
        self, session: Session, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
    ) -> Callable[[], None]:
        """Run into ``outputs``, by a copy where the runtime puts a result elsewhere."""
        predict = session.bind(inputs, outputs)
        offered = tuple(outputs.items())
        declined = self._declined  # not self: a cycle would keep the buffers until a collection

        def run() -> None:
            results = predict()
            for name, buffer in offered:
                if results[name] is not buffer:
                    compact(results[name], buffer)
                    declined[name] = None

        return run


def _kv_buffer() -> Float32:
    """A page-aligned array of zeros, which takes memory as it is written."""
    size = int(np.prod(CONTRACT.kv_shape)) * np.dtype(np.float32).itemsize
    memory = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)  # thousands of page faults less
    return np.frombuffer(memory, np.float32).reshape(CONTRACT.kv_shape)
