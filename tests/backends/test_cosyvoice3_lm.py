"""The decode loop on sessions that count, and what a step of it costs the host."""

import gc
import mmap
import tracemalloc
import weakref

import numpy as np
import pytest

from tests import toy_cosyvoice3 as toy
from twinvox._native.ras import RasSampler
from twinvox.backends.base import Progress
from twinvox.backends.cosyvoice3 import contract
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.lm import N_PAIRS, Decoder, Embeddings
from twinvox.errors import ContractError, SynthesisError
from twinvox.runtime.base import TensorSpec
from twinvox.tables import EmbeddingTable

TEXT_IDS = np.array([65, 66, 67], np.int32)
SPEECH_IDS = np.array([1, 2], np.int32)


@pytest.fixture(scope="module")
def embeddings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables") / "embeddings"
    toy.write_embeddings(folder)
    runtime = folder / "embeddings-runtime-fp32.safetensors"
    decoded = folder / "speech_embedding-fp16.safetensors"
    return Embeddings(
        EmbeddingTable.open(runtime, "text_embedding", (toy.TEXT_VOCAB, toy.DIM)),
        EmbeddingTable.open(runtime, "speech_embedding", (toy.VOCAB, toy.DIM)),
        EmbeddingTable.open(decoded, "speech_embedding", (toy.VOCAB, toy.DIM)),
    )


class Recorded:
    """A session that takes no time; ``calls`` holds the buffers of each run, ``each`` is called."""

    def __init__(self, model, each=lambda inputs, outputs: None):
        specs = (model.inputs, model.outputs)
        self.inputs, self.outputs = (
            {t.name: TensorSpec(t.name, t.shape, np.dtype(t.dtype)) for t in tensors}
            for tensors in specs
        )
        self.calls = []
        self.bindings = 0
        self._each = each

    def bind(self, inputs, outputs):
        assert inputs.keys() == self.inputs.keys()
        assert outputs.keys() == self.outputs.keys()
        for name, array in (*inputs.items(), *outputs.items()):
            spec = (self.inputs if name in inputs else self.outputs)[name]
            assert (array.shape, array.dtype) == (spec.shape, spec.dtype)
            assert array.flags.c_contiguous
        self.bindings += 1

        def run():
            self.calls.append((inputs, outputs))
            self._each(inputs, outputs)
            return outputs

        return run


def likely(token):
    """Makes ``token`` the one that is drawn."""

    def answer(_inputs, outputs):
        logits = outputs["speech_logits"]
        logits[...] = 0
        logits[..., token] = 50

    return answer


def sampler(**options):
    return RasSampler(1, top_p=0.8, top_k=25, win_size=10, tau_r=2.0, **options)


def generate(decoder, cap, text_ids=TEXT_IDS, speech_ids=SPEECH_IDS, draw=None):
    return decoder.generate(text_ids, speech_ids, draw or sampler(), cap, Progress(1, None))


def sessions(prefill_token=7, decode_token=7):
    return (
        Recorded(contract.llm_prefill(), likely(prefill_token)),
        Recorded(contract.llm_decode(), likely(decode_token)),
    )


def test_the_cache_rotates_through_three_aligned_pairs_without_a_copy(embeddings):
    prefill, decode = sessions()
    decoder = Decoder(prefill, decode, embeddings)
    spoken = generate(decoder, 8)
    assert (len(spoken.tokens), spoken.finished_on_eos, spoken.declined) == (8, False, ())
    fronts = [(call["kv_k"], call["kv_v"]) for call, _ in decode.calls]
    backs = [(call["kv_k_out"], call["kv_v_out"]) for _, call in decode.calls]
    (_, first), *_ = prefill.calls
    assert fronts[0][0] is first["kv_k"]
    assert fronts[0][1] is first["kv_v"]
    for back, front in zip(backs, fronts[1:], strict=False):
        assert back[0] is front[0]
        assert back[1] is front[1]
    buffers = {id(array): array for pair in fronts + backs for array in pair}
    assert len(buffers) == 2 * N_PAIRS
    for array in buffers.values():
        assert array.ctypes.data % mmap.PAGESIZE == 0
        assert array.shape == CONTRACT.kv_shape
    for front, back in zip(fronts, backs, strict=True):
        assert not {id(array) for array in front} & {id(array) for array in back}


def test_the_buffers_go_with_the_decoder(embeddings):
    gc.disable()
    try:
        decoder = Decoder(*sessions(), embeddings)
        generate(decoder, 3)
        alive = weakref.ref(decoder)
        del decoder
        assert alive() is None
    finally:
        gc.enable()


def test_each_segment_starts_at_the_first_pair_with_no_new_binding(embeddings):
    prefill, decode = sessions()
    decoder = Decoder(prefill, decode, embeddings)
    for cap in (3, 6, 1, 2):
        prefill.calls.clear()
        decode.calls.clear()
        generate(decoder, cap)
        assert len(decode.calls) == cap - 1
        if decode.calls:
            assert decode.calls[0][0]["kv_k"] is prefill.calls[0][1]["kv_k"]
    assert (prefill.bindings, decode.bindings) == (1, N_PAIRS)


def test_what_each_step_gets(embeddings):
    seen = []

    def step(inputs, outputs):
        seen.append((int(inputs["cur_len"][0]), inputs["inputs_embeds"][0, 0].copy()))
        likely(100 + len(seen))(inputs, outputs)

    prefill = Recorded(contract.llm_prefill(), likely(9))
    spoken = generate(Decoder(prefill, Recorded(contract.llm_decode(), step), embeddings), 5)
    assert spoken.tokens.tolist() == [9, 101, 102, 103, 104]
    assert [length for length, _ in seen] == [7, 8, 9, 10]
    for token, (_, row) in zip(spoken.tokens, seen, strict=False):
        np.testing.assert_array_equal(row, toy.speech_row(int(token), 1))


def test_the_prefill_gets_sos_text_task_prompt_and_zeros(embeddings):
    prefill, decode = sessions()
    decoder = Decoder(prefill, decode, embeddings)
    generate(decoder, 1, text_ids=np.arange(100, dtype=np.int32))
    generate(decoder, 1)
    inputs, _ = prefill.calls[-1]
    want = np.zeros((1, 256, 896), np.float32)
    want[0, :7] = [
        toy.speech_row(6561, 0),
        *(toy.text_row(i) for i in TEXT_IDS.tolist()),
        toy.speech_row(6563, 0),
        *(toy.speech_row(i, 0) for i in SPEECH_IDS.tolist()),
    ]
    np.testing.assert_array_equal(inputs["inputs_embeds"], want)
    assert inputs["input_len"].tolist() == [7]


def test_the_prefills_token_is_drawn_from_the_last_row(embeddings):
    def answer(_inputs, outputs):
        outputs["speech_logits"][...] = 0
        for row in range(256):
            outputs["speech_logits"][0, row, 1000 + row] = 50

    prefill = Recorded(contract.llm_prefill(), answer)
    decoder = Decoder(prefill, Recorded(contract.llm_decode()), embeddings)
    assert generate(decoder, 1).tokens.tolist() == [1006]
    full = np.zeros(252, np.int32)
    assert generate(decoder, 1, text_ids=full).tokens.tolist() == [1255]


def test_a_257th_row_is_refused(embeddings):
    decoder = Decoder(*sessions(), embeddings)
    with pytest.raises(ValueError, match="out must be"):
        generate(decoder, 1, text_ids=np.zeros(253, np.int32))


@pytest.mark.parametrize("stop", [6561, 6562, 6760])
def test_every_id_of_the_stop_range_ends_the_speech(embeddings, stop):
    spoken = generate(Decoder(*sessions(decode_token=stop), embeddings), 9)
    assert (spoken.tokens.tolist(), spoken.finished_on_eos) == ([7], True)
    with pytest.raises(SynthesisError, match=f"no speech.*{stop}"):
        generate(Decoder(*sessions(prefill_token=stop), embeddings), 9)
    last = generate(Decoder(*sessions(decode_token=6560), embeddings), 3)
    assert (last.tokens.tolist(), last.finished_on_eos) == ([7, 6560, 6560], False)


def test_a_stop_token_after_the_last_allowed_one_is_not_waited_for(embeddings):
    prefill, decode = sessions(decode_token=6562)
    spoken = generate(Decoder(prefill, decode, embeddings), 1)
    assert (spoken.tokens.tolist(), spoken.finished_on_eos, decode.calls) == ([7], False, [])


def test_a_recorded_stream_is_replayed(embeddings):
    recorded = [11, 5, 5, 5, 6000]
    decoder = Decoder(*sessions(), embeddings)
    spoken = generate(decoder, len(recorded), draw=sampler(seed_tokens=recorded))
    assert spoken.tokens.tolist() == recorded


def test_an_id_outside_the_table_is_a_contract_error(embeddings):
    with pytest.raises(ContractError, match="6761 rows"):
        generate(Decoder(*sessions(), embeddings), 1, speech_ids=np.array([6761], np.int32))


def test_a_step_allocates_nothing_of_four_kibibytes(embeddings):
    peaks = []

    def measure(_inputs, outputs):
        if tracemalloc.is_tracing():
            current, peak = tracemalloc.get_traced_memory()
            peaks.append(peak - last[0])
            tracemalloc.reset_peak()
            last[0] = current

    last = [0]
    prefill = Recorded(contract.llm_prefill(), likely(7))
    decode = Recorded(contract.llm_decode(), measure)
    decoder = Decoder(prefill, decode, embeddings)
    decoder._logits[...] = 0
    decoder._logits[0, 0, :40] = 3
    generate(decoder, 4)
    decode.calls = NoList()
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        generate(decoder, 249, draw=sampler(min_tokens=249, first_stop_id=6561))
    finally:
        tracemalloc.stop()
        gc.enable()
    # The first interval holds the prefill and the token array of the segment.
    assert len(peaks) == 248
    assert max(peaks[1:]) < 4096, max(peaks[1:])


class NoList:
    def append(self, _):
        pass
