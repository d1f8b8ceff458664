"""The host's own share of CosyVoice3's decode loop: 249 tokens from models that take no time."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from twinvox._native.ras import RasSampler
from twinvox.backends.base import Progress
from twinvox.backends.cosyvoice3 import contract
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.lm import Decoder, Embeddings
from twinvox.runtime.base import TensorSpec
from twinvox.tables import EmbeddingTable

N_TOKENS = 249
LOGITS = np.random.default_rng(1).normal(0, 3, CONTRACT.speech_vocab)

pytestmark = pytest.mark.benchmark(group="decode, host only, 249 tokens")


class Instant:
    """A session whose logits are the same at each step, and in their place from the start."""

    def __init__(self, model):
        self.inputs, self.outputs = (
            {t.name: TensorSpec(t.name, t.shape, np.dtype(t.dtype)) for t in tensors}
            for tensors in (model.inputs, model.outputs)
        )

    def bind(self, inputs, outputs):
        outputs["speech_logits"][...] = LOGITS
        return lambda: outputs


@pytest.fixture(scope="module")
def embeddings(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.safetensors"
    shape = (CONTRACT.speech_vocab, CONTRACT.embed_dim)
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float16)
    save_file({"speech_embedding": values}, path)
    table = EmbeddingTable.open(path, "speech_embedding", shape)
    return Embeddings(table, table, table)


def test_twinvox(benchmark, embeddings):
    decoder = Decoder(Instant(contract.llm_prefill()), Instant(contract.llm_decode()), embeddings)
    ids = np.arange(3, dtype=np.int32)

    def generate():
        usual = {"top_p": 0.8, "top_k": 25, "win_size": 10, "tau_r": 2.0}
        sampler = RasSampler(1, **usual, min_tokens=N_TOKENS, first_stop_id=6561)
        return decoder.generate(ids, ids[1:], sampler, N_TOKENS, Progress(1, None))

    spoken = benchmark(generate)
    assert len(spoken.tokens) == N_TOKENS
    if benchmark.stats:
        step = benchmark.stats.stats.median / N_TOKENS
        benchmark.extra_info["per step"] = f"{step * 1e6:.1f} us"
