"""The CosyVoice3 host on contract toys, against its NumPy twin."""

import numpy as np
import pytest
import soundfile

from tests import toy_cosyvoice3 as toy
from tests.backends.conftest import CV3_PROMPT_TEXT, CV3_STOP_AFTER, cv3_made_of, open_plain
from tests.backends.test_luxtts_synthesizer import Padded
from tests.reference import cosyvoice3 as reference
from tests.toy_cosyvoice3 import SENTENCES
from twinvox.errors import (
    ModelNotFoundError,
    PromptError,
    SynthesisError,
    SynthesisWarning,
    TextError,
)
from twinvox.text.qwen2_tokenizer import Qwen2Tokenizer


@pytest.fixture(scope="module")
def eager(cv3_folder, tmp_path_factory):
    """One whose every decode step draws a stop token."""
    path = tmp_path_factory.mktemp("decoders") / "eager.mlpackage"
    toy.write_decode(path, stop_after=-100)
    return cv3_made_of(cv3_folder, llm_decode=path)


@pytest.fixture
def expect(cv3_folder):
    """What the twin makes of the segments of a speech."""
    tokenizer = Qwen2Tokenizer.load(cv3_folder / "tokenizer")

    def run(speech, n_prompt, *, cap=None, stop_after=CV3_STOP_AFTER):
        ids = [tokenizer.encode(CV3_PROMPT_TEXT + s.text).tolist() for s in speech.segments]
        return reference.synthesize(
            ids,
            toy.prompt_tensors(n_prompt),
            speech.seed,
            cap=cap or 250 - n_prompt,
            stop_after=stop_after,
        )

    return run


def check(speech, expected):
    tokens, finished, samples = expected
    np.testing.assert_array_equal(speech.decoded_tokens, np.concatenate(tokens))
    assert speech.decoded_tokens.dtype == np.int32
    assert speech.generated_token_count == sum(map(len, tokens))
    assert speech.finished_on_eos is all(finished)
    np.testing.assert_array_equal(speech.samples, samples)
    assert (speech.samples.dtype, speech.sample_rate) == (np.float32, 24_000)
    assert np.abs(samples).max() > 0.1


@pytest.mark.parametrize("count", [1, 2, 7])
def test_tokens_and_samples_equal_the_numpy_twin(cv3_tts, cv3_voice, expect, count):
    speech = cv3_tts.synthesize("".join(SENTENCES[:count]), cv3_voice, seed=5)
    assert len(speech.segments) == count
    check(speech, expect(speech, 20))
    assert speech.timings.keys() == {"prefill", "decode", "flow", "hift"}
    assert all(seconds > 0 for seconds in speech.timings.values())
    assert speech.tokens_per_second == pytest.approx(
        len(speech.decoded_tokens) / speech.timings["decode"]
    )


@pytest.mark.parametrize("n_prompt", [1, 87])
def test_prompts_of_other_lengths(cv3_tts, cv3_voice_of, expect, n_prompt):
    speech = cv3_tts.synthesize(SENTENCES[0], cv3_voice_of(n_prompt), seed=6)
    check(speech, expect(speech, n_prompt))


def test_a_prefill_of_256_rows_and_one_of_257(cv3_tts, cv3_voice, expect):
    """2 + 32 ids of the prompt's text + 20 speech tokens leave 202."""
    speech = cv3_tts.synthesize("a" * 202, cv3_voice, auto_chunking=False)
    check(speech, expect(speech, 20))
    with pytest.raises(TextError, match="takes 203 text tokens; 202 fit"):
        cv3_tts.synthesize("a" * 203, cv3_voice, auto_chunking=False)


def test_a_prompt_that_leaves_one_token(cv3_tts, cv3_voice_of, expect):
    cv3_voice = cv3_voice_of(249, toy.MARKER)
    with pytest.warns(SynthesisWarning, match=r"after 1 tokens \(0\.04 s\), the cap being 1"):
        speech = cv3_tts.synthesize("a", cv3_voice, seed=6)
    marker_and_a = [[toy.MARKER_ID, ord("a")]]
    check(speech, reference.synthesize(marker_and_a, toy.prompt_tensors(249), 6, cap=1))


def test_a_stop_token_in_the_first_step(eager, cv3_voice, expect):
    speech = eager.synthesize(SENTENCES[0], cv3_voice)
    assert (speech.generated_token_count, len(speech.samples)) == (1, 960)
    check(speech, expect(speech, 20, stop_after=-100))


def test_no_stop_token_within_the_room(cv3_endless, cv3_voice_of, expect):
    with pytest.warns(SynthesisWarning, match=r"163 tokens \(6\.52 s\), the cap being 163") as said:
        speech = cv3_endless.synthesize(SENTENCES[0], cv3_voice_of(87))
    assert len(said) == 1
    assert said[0].filename == __file__
    assert speech.finished_on_eos is False
    check(speech, expect(speech, 87, stop_after=toy.NEVER))


def test_the_room_limits_max_new_tokens(cv3_endless, cv3_voice_of):
    voice = cv3_voice_of(240, toy.MARKER)
    with pytest.warns(SynthesisWarning, match="after 10 tokens .* the cap being 10"):
        speech = cv3_endless.synthesize("a", voice, max_new_tokens=11)
    expected = reference.synthesize(
        [[toy.MARKER_ID, ord("a")]], toy.prompt_tensors(240), speech.seed, cap=10
    )
    check(speech, expected)


@pytest.mark.parametrize(("asked", "cap"), [(1, 1), (5, 5), (0, None), (-3, None), (10_000, None)])
def test_max_new_tokens(cv3_endless, cv3_tts, cv3_voice, expect, asked, cap):
    if cap is None:
        speech = cv3_tts.synthesize(SENTENCES[0], cv3_voice, max_new_tokens=asked)
        check(speech, expect(speech, 20))
        return
    with pytest.warns(SynthesisWarning, match=f"the cap being {cap}"):
        speech = cv3_endless.synthesize(SENTENCES[0], cv3_voice, max_new_tokens=asked)
    check(speech, expect(speech, 20, cap=cap, stop_after=toy.NEVER))


def test_one_unfinished_segment_makes_the_speech_unfinished(cv3_tts, cv3_voice):
    cap = 14  # some of the segments end by themselves before
    with pytest.warns(SynthesisWarning, match=r"segment \d of 7") as said:
        parts = list(cv3_tts.stream("".join(SENTENCES), cv3_voice, max_new_tokens=cap))
    finished = [part.finished_on_eos for part in parts]
    assert True in finished
    assert finished.count(False) == len(said) > 0
    assert {warning.filename for warning in said} == {__file__}
    with pytest.warns(SynthesisWarning):
        whole = cv3_tts.synthesize("".join(SENTENCES), cv3_voice, max_new_tokens=cap)
    assert whole.finished_on_eos is False


def test_a_half_precision_flow(cv3_folder, tmp_path, cv3_voice, expect):
    path = tmp_path / "flow.mlpackage"
    toy.write_flow(path, np.float16)
    half = cv3_made_of(cv3_folder, flow=path)
    assert half._flow.outputs["mel"].dtype == np.float16
    speech = half.synthesize("".join(SENTENCES[:2]), cv3_voice)
    check(speech, expect(speech, 20))


class PaddedFloats(Padded):
    @staticmethod
    def _pad(array):
        return Padded._pad(array) if array.dtype.kind == "f" else array


def test_padded_results_are_copied_with_one_warning(cv3_folder, cv3_voice, expect):
    padded = cv3_made_of(cv3_folder, PaddedFloats)
    names = "speech_logits, kv_k, kv_v, kv_k_out, kv_v_out"
    with pytest.warns(SynthesisWarning, match=f"declined the buffers of {names}") as said:
        speech = padded.synthesize("".join(SENTENCES[:2]), cv3_voice)
    assert len(said) == 1
    check(speech, expect(speech, 20))


class Declining:
    """A session that answers with arrays of its own, as one without output backings does."""

    def __init__(self, path):
        self._session = open_plain(path)
        self.inputs, self.outputs = self._session.inputs, self._session.outputs
        self.run = self._session.run

    def bind(self, inputs, outputs):
        return lambda: self._session.run(inputs)


@pytest.mark.parametrize("declined", ["Prefill", "Decode"])
def test_a_model_that_declines_its_buffers(cv3_folder, cv3_voice, expect, declined):
    def open_model(path):
        return (Declining if declined in path.name else open_plain)(path)

    with pytest.warns(SynthesisWarning, match="declined the buffers") as said:
        speech = cv3_made_of(cv3_folder, open_model).synthesize("".join(SENTENCES[:2]), cv3_voice)
    assert len(said) == 1
    check(speech, expect(speech, 20))


def test_segments_draw_different_tokens(cv3_tts, cv3_voice):
    one, two = cv3_tts.stream(
        "今天天气很好很好很好。今天天气很好很好很好。", cv3_voice, normalization="none"
    )
    assert one.segments[0].text == two.segments[0].text
    assert not np.array_equal(one.decoded_tokens, two.decoded_tokens)


def test_a_first_token_that_stops_is_no_speech(cv3_folder, tmp_path, cv3_voice):
    path = tmp_path / "prefill.mlpackage"
    toy.write_prefill(path, stop_at_once=True)
    with pytest.raises(SynthesisError, match=r"no speech: .* stop token 66\d\d"):
        cv3_made_of(cv3_folder, llm_prefill=path).synthesize(SENTENCES[0], cv3_voice)


def test_min_token_text_ratio_keeps_the_speech_going(eager, cv3_voice):
    n_own = len(SENTENCES[0].encode())
    with pytest.warns(SynthesisWarning, match="the cap being 20"):
        speech = eager.synthesize(
            SENTENCES[0], cv3_voice, min_token_text_ratio=2, max_new_tokens=20
        )
    assert speech.generated_token_count == 20 < 2 * n_own
    assert speech.decoded_tokens.max() < toy.STOP
    short = eager.synthesize(SENTENCES[0], cv3_voice, min_token_text_ratio=0.25)
    assert short.generated_token_count == round(0.25 * n_own)
    with pytest.raises(ValueError, match="min_token_text_ratio is -1"):
        eager.synthesize(SENTENCES[0], cv3_voice, min_token_text_ratio=-1)


class Answering:
    """A session whose results are what ``change`` makes of them."""

    def __init__(self, path, change):
        self._session, self._change = open_plain(path), change
        self.inputs, self.outputs = self._session.inputs, self._session.outputs

    def run(self, inputs):
        return self._change(self._session.run(inputs))

    def bind(self, inputs, outputs):
        predict = self._session.bind(inputs, outputs)
        return lambda: self._change(dict(predict()))


@pytest.mark.parametrize(
    ("model", "name", "value", "message"),
    [
        ("Prefill", "speech_logits", np.nan, "no distribution"),
        ("Decode", "speech_logits", np.inf, "no distribution"),
        ("Flow", "num_prompt_mel", 500, "500 of its 500 mel frames"),
        ("Flow", "num_prompt_mel", -1, "-1 of its 500"),
        ("Flow", "mel", np.nan, "NaN or infinite"),
        ("HiFT", "audio", np.inf, "NaN or infinite"),
        ("HiFT", "audio_length_samples", 0, "HiFT made 0 samples"),
        ("HiFT", "audio_length_samples", 240_001, "HiFT made 240001 samples"),
    ],
)
def test_unusable_results_are_a_synthesis_error(cv3_folder, cv3_voice, model, name, value, message):
    def change(results):
        results[name][...] = value
        return results

    def open_model(path):
        return Answering(path, change) if model in path.name else open_plain(path)

    with pytest.raises(SynthesisError, match=message):
        cv3_made_of(cv3_folder, open_model).synthesize(SENTENCES[0], cv3_voice)


def test_mel_frames_end_with_the_flow(cv3_folder, cv3_voice):
    """Where the flow counts more prompt frames than there are, fewer are left for the speech."""

    def change(results):
        results["num_prompt_mel"][...] = 496
        return results

    def open_model(path):
        return Answering(path, change) if "Flow" in path.name else open_plain(path)

    speech = cv3_made_of(cv3_folder, open_model).synthesize(SENTENCES[0], cv3_voice)
    assert speech.generated_token_count > 2
    assert len(speech.samples) == 4 * 480


def test_mandarin_text_to_a_wav_file(cv3_tts, tmp_path):
    text = "2024年3月5日，气温-3.5°C，一共￥1234.56元。U.S. 市场涨了3.14%！\n“真的吗？”……他说：OK。"
    speech = cv3_tts.synthesize(text)
    said = "".join(segment.text for segment in speech.segments)
    assert "二零二四年三月五日" in said
    assert not any(char.isdigit() for char in said if char.isascii())
    assert len(speech.segments) > 1
    path = tmp_path / "hello.wav"
    speech.save(path)
    samples, rate = soundfile.read(path, dtype="float32")
    assert rate == 24_000
    np.testing.assert_allclose(samples, speech.samples, atol=1.1 / 32768)


def test_ten_thousand_characters_are_cut_into_segments_that_fit(cv3_tts, cv3_voice):
    text = "今天天气很好，我们去公园散步，看见了很多花。" * 455
    assert len(text) > 10_000
    first = next(cv3_tts.stream(text, cv3_voice))
    assert first.generated_token_count > 0
    with pytest.raises(TextError, match="text tokens"):
        cv3_tts.stream(text, cv3_voice, auto_chunking=False)


@pytest.mark.parametrize("chunking", [True, False])
@pytest.mark.parametrize("text", ["", "   ", "！！！", "……。", "😀🎉", "\n\t", "?!"])
def test_nothing_to_say_is_a_text_error(cv3_tts, cv3_voice, text, chunking):
    with pytest.raises(TextError, match="nothing to say"):
        cv3_tts.synthesize(text, cv3_voice, auto_chunking=chunking)


def test_a_seed_may_be_of_numpy(cv3_tts, cv3_voice):
    speech = cv3_tts.synthesize(SENTENCES[0], cv3_voice, seed=np.uint64(2**63))
    want = cv3_tts.synthesize(SENTENCES[0], cv3_voice, seed=2**63).samples
    np.testing.assert_array_equal(speech.samples, want)


def test_wrong_arguments(cv3_tts, cv3_voice):
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed"):
            cv3_tts.stream(SENTENCES[0], cv3_voice, seed=seed)
    for seed in (1.5, "5", None):
        with pytest.raises(TypeError, match=f"seed is {seed!r}; expected a whole number"):
            cv3_tts.stream(SENTENCES[0], cv3_voice, seed=seed)
    with pytest.raises(TypeError, match="integer"):
        cv3_tts.stream(SENTENCES[0], cv3_voice, max_new_tokens=2.5)
    with pytest.raises(ValueError, match="normalization is 'x'"):
        cv3_tts.stream(SENTENCES[0], cv3_voice, normalization="x")
    with pytest.raises(TypeError, match="either text or token_ids"):
        cv3_tts.stream(SENTENCES[0], cv3_voice, token_ids=[1])
    with pytest.raises(TypeError, match="speed"):
        cv3_tts.stream(SENTENCES[0], cv3_voice, speed=1.0)


def test_a_voice_that_is_not_there_may_be_a_published_one(cv3_tts):
    with pytest.raises(ModelNotFoundError, match=r"cosyvoice3-default-zh; .*voice pull nobody"):
        cv3_tts.synthesize(SENTENCES[0], "nobody")


def test_a_voice_from_audio_names_voice_bundles(cv3_tts):
    with pytest.raises(PromptError, match=r"use a voice bundle: .*voices"):
        cv3_tts.voice((np.zeros(24_000, np.float32), 24_000), "你好")
