"""The LuxTTS host on contract toys, against its NumPy twin."""

import inspect
import itertools
import threading
import warnings

import numpy as np
import pytest

from tests import toy_models
from tests.backends.conftest import buzz
from tests.reference import luxtts as reference
from twinvox import Speech, Voice
from twinvox._native.rng import Rng, derive_seed
from twinvox.backends.luxtts.prompt import MEL_TENSOR, RMS_TENSOR
from twinvox.backends.luxtts.synthesizer import LuxTTS
from twinvox.errors import PromptError, PromptWarning, TextError, TextWarning
from twinvox.runtime import open_session
from twinvox.text.g2p import G2p
from twinvox.text.ipa_tokenizer import IpaTokenizer

TEXT = "Hello there, my friend."
LONG = "The first sentence is here. Then comes a second one, somewhat longer! Is that all?"


@pytest.fixture(scope="session")
def prompt_ids(toy_folder, toy_voice):
    tokenizer = IpaTokenizer.load(toy_folder / "tokens.txt")
    return tokenizer.encode(G2p().phonemize(toy_voice.prompt_text))[0]


@pytest.mark.parametrize("speed", [0.5, 0.8, 1.0, 1.3, 2.0])
@pytest.mark.parametrize("count", [1, 7, 25])
def test_samples_equal_the_numpy_twin(toy_tts, toy_voice, prompt_ids, speed, count):
    ids = [14 + i % 11 for i in range(count)]
    speech = toy_tts.synthesize(voice=toy_voice, token_ids=ids, speed=speed, seed=5)
    mel = toy_voice.tensors[MEL_TENSOR]
    generated = int(np.ceil(len(mel) / len(prompt_ids) * count / speed))
    noise = Rng(derive_seed(5, 0)).gaussian((len(mel) + generated, 100))
    want = reference.synthesize_ids(
        toy_models, noise, mel, prompt_ids, ids, speed, 1024, (282, 555)
    )
    assert speech.sample_rate == 48_000
    assert speech.samples.dtype == np.float32
    assert len(speech.samples) == (generated - 1) * 512
    np.testing.assert_allclose(speech.samples, want, atol=2e-6)
    assert np.abs(want).max() > 1e-3


class Padded:
    """A session whose results have padded rows full of NaN, as Core ML's GPU returns them."""

    def __init__(self, path):
        self._session = open_session(path, threads=1)
        self.inputs, self.outputs = self._session.inputs, self._session.outputs

    @staticmethod
    def _pad(array):
        pitch = -(-array.shape[-1] // 16) * 16 + 16
        wide = np.full((*array.shape[:-1], pitch), np.nan, array.dtype)
        wide[..., : array.shape[-1]] = array
        return wide[..., : array.shape[-1]]

    def run(self, inputs):
        return {name: self._pad(array) for name, array in self._session.run(inputs).items()}

    def bind(self, inputs, outputs):
        predict = self._session.bind(inputs, outputs)
        return lambda: {name: self._pad(array) for name, array in predict().items()}


def test_padded_rows_give_identical_samples(toy_folder, toy_tts, toy_voice):
    from twinvox.backends.luxtts.folder import open_folder

    padded = LuxTTS(open_folder(toy_folder, "gpu"), Padded)
    want = toy_tts.synthesize(TEXT, toy_voice)
    np.testing.assert_array_equal(padded.synthesize(TEXT, toy_voice).samples, want.samples)


def test_streamed_parts_join_to_the_one_shot_samples(toy_tts, toy_voice):
    parts = list(toy_tts.stream(LONG, toy_voice, seed=3))
    whole = toy_tts.synthesize(LONG, toy_voice, seed=3)
    assert len(parts) == len(whole.segments) > 1
    np.testing.assert_array_equal(np.concatenate([p.samples for p in parts]), whole.samples)
    assert [s.text for p in parts for s in p.segments] == [s.text for s in whole.segments]
    edges = [(s.start, s.end) for s in whole.segments]
    assert edges[0][0] == 0
    assert edges[-1][1] == pytest.approx(whole.seconds)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(edges))
    assert whole.timings.keys() == {"text_encoder", "flow", "vocoder"}
    assert all(seconds > 0 for seconds in whole.timings.values())


def test_equal_seeds_give_equal_samples_on_any_number_of_threads(toy_tts, toy_voice):
    want = toy_tts.synthesize(LONG, toy_voice, seed=11).samples
    results: list[Speech] = []

    def speak() -> None:
        results.append(toy_tts.synthesize(LONG, toy_voice, seed=11))

    threads = [threading.Thread(target=speak) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for result in results:
        np.testing.assert_array_equal(result.samples, want)
    assert not np.array_equal(toy_tts.synthesize(LONG, toy_voice, seed=12).samples, want)


def test_segments_draw_different_noise(toy_tts, toy_voice):
    one, two = toy_tts.stream("Say it again now, friend. Say it again now, friend.", toy_voice)
    assert one.segments[0].text.strip() == two.segments[0].text.strip()
    inner = slice(400, len(one.samples))  # beyond the cross-fade
    assert not np.array_equal(one.samples[inner], two.samples[inner])


def test_a_quiet_prompt_gives_quiet_speech(toy_tts):
    loud = toy_tts.voice((buzz(2.0, level=0.1), 24_000), "This is what I say.")
    quiet = toy_tts.voice((buzz(2.0, level=0.02), 24_000), "This is what I say.")
    audible = loud.tensors[MEL_TENSOR] > -6  # below, float32 rounding of the samples shows
    np.testing.assert_allclose(
        quiet.tensors[MEL_TENSOR][audible], loud.tensors[MEL_TENSOR][audible], atol=1e-3
    )
    assert quiet.tensors[RMS_TENSOR][0] == pytest.approx(0.02, rel=1e-4)
    level = np.std(toy_tts.synthesize(TEXT, quiet).samples)
    assert level == pytest.approx(np.std(toy_tts.synthesize(TEXT, loud).samples) / 5, rel=1e-2)


def test_phonemes_bypass_the_front_end(toy_tts, toy_voice):
    by_text = toy_tts.synthesize(TEXT, toy_voice)
    by_phonemes = toy_tts.synthesize(G2p().phonemize(TEXT), toy_voice, phonemes=True)
    np.testing.assert_array_equal(by_phonemes.samples, by_text.samples)


def test_progress_counts_every_step_and_stops_on_false(toy_tts, toy_voice):
    calls: list[tuple[int, int, str]] = []
    toy_tts.synthesize(LONG, toy_voice, progress=lambda *call: calls.append(call))
    total = calls[0][1]
    assert [done for done, _, _ in calls] == list(range(1, total + 1))
    assert [stage for _, _, stage in calls[:6]] == ["text_encoder", *["flow"] * 4, "vocoder"]
    whole = toy_tts.synthesize(LONG, toy_voice)
    stopped = toy_tts.synthesize(LONG, toy_voice, progress=lambda done, _total, _stage: done < 9)
    assert 0 < len(stopped.samples) < len(whole.samples)
    assert [part.text for part in stopped.segments] == [whole.segments[0].text, ""]


def test_long_text_is_cut_into_segments_that_fit(toy_tts, toy_voice):
    text = " ".join(["one two three four five six seven eight nine ten"] * 20) + "."
    speech = toy_tts.synthesize(text, toy_voice)
    assert len(speech.segments) > 5
    said = "".join("".join(s.text for s in speech.segments).split())
    assert said == "".join(text.split())


@pytest.mark.parametrize("text", ["", "   ", "?!...", "😀🎉", "\n\t", "\x00\x07"])
def test_nothing_to_say_is_a_text_error(toy_tts, toy_voice, text):
    with pytest.raises(TextError, match="nothing to say"):
        toy_tts.synthesize(text, toy_voice)


def test_what_cannot_be_spoken_is_reported(toy_tts, toy_voice):
    with pytest.warns(TextWarning, match="'你' '好' 'Ж' cannot be spoken"):
        toy_tts.synthesize("Hello 你好, naïve Ж ªº ½ café.", toy_voice)
    with pytest.warns(TextWarning, match="'☃' cannot be spoken"):
        toy_tts.synthesize("hɛlˈoʊ ☃", toy_voice, phonemes=True)
    with pytest.raises(TextError, match="nothing to say"):
        toy_tts.synthesize("你好", toy_voice)


def test_a_warning_points_to_the_line_that_spoke(toy_tts, toy_voice):
    for speak in (toy_tts.synthesize, toy_tts.stream):
        with pytest.warns(TextWarning) as caught:
            speak("Hello Ж.", toy_voice)
        assert caught[0].filename == __file__
        assert caught[0].lineno == inspect.currentframe().f_lineno - 2


def test_what_is_left_out_of_the_transcript_is_reported(toy_tts):
    recording = (buzz(2.0), 24_000)
    with pytest.warns(PromptWarning, match="'你' '好' of the transcript"):
        toy_tts.voice(recording, "This is 你好 what I say.")
    with pytest.warns(PromptWarning, match="'Ж' of the transcript"):
        toy_tts.voice(recording, "ðɪs ɪz Ж wʌt aɪ sˈeɪ", phonemes=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        toy_tts.voice(recording, "This is what I “say” for 5 µg, naïve.")


def test_text_and_transcript_are_normalised_alike(toy_tts):
    recording = (buzz(2.0), 24_000)
    figures = toy_tts.voice(recording, "Gate 5 costs $3.5bn.")
    words = toy_tts.voice(recording, "Gate five costs three point five billion dollars.")
    natural = toy_tts.synthesize("Pay £1.2m.", figures)
    spelt = toy_tts.synthesize("Pay one point two million pounds.", words, normalization="none")
    np.testing.assert_array_equal(natural.samples, spelt.samples)
    upstream = toy_tts.synthesize("Pay £1.2m.", figures, normalization="upstream")
    assert len(upstream.samples) != len(natural.samples)


def test_another_normalization_is_a_value_error(toy_tts, toy_voice):
    with pytest.raises(ValueError, match="expected one of natural, upstream, none"):
        toy_tts.stream(TEXT, toy_voice, normalization="zh")
    with pytest.raises(ValueError, match="expected one of natural, upstream, none"):
        toy_tts.voice((buzz(2.0), 24_000), "What I say.", normalization="")


@pytest.mark.parametrize("text", ["a", "50", "apple", "I", "U.S."])
def test_tiny_texts_are_spoken(toy_tts, toy_voice, text):
    assert len(toy_tts.synthesize(text, toy_voice).samples) > 0


def test_a_thousand_characters_without_punctuation_are_spoken(toy_tts, toy_voice):
    text = "just keep on talking and do not stop " * 27
    speech = toy_tts.synthesize(text, toy_voice)
    assert "".join("".join(s.text for s in speech.segments).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["a" * 1000, "https://example.com/" + "a/b-c" * 50])
def test_a_word_longer_than_a_segment_is_spoken(toy_tts, toy_voice, text):
    speech = toy_tts.synthesize(f"So {text} it is.", toy_voice)
    spoken = "".join("".join(s.text for s in speech.segments).split())
    assert spoken == f"So{text}itis."


@pytest.mark.parametrize("speed", [0, -1, 0.49, 2.01, float("nan"), float("inf")])
def test_speed_outside_its_range_is_a_value_error(toy_tts, toy_voice, speed):
    with pytest.raises(ValueError, match="speed"):
        toy_tts.synthesize(TEXT, toy_voice, speed=speed)


@pytest.mark.parametrize("seed", [1.5, "5", None])
def test_a_seed_that_is_no_whole_number_is_a_type_error(toy_tts, toy_voice, seed):
    with pytest.raises(TypeError, match="expected a whole number"):
        toy_tts.synthesize(TEXT, toy_voice, seed=seed)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seed_outside_its_range_is_a_value_error(toy_tts, toy_voice, seed):
    with pytest.raises(ValueError, match="seed"):
        toy_tts.synthesize(TEXT, toy_voice, seed=seed)


def test_text_and_token_ids_exclude_each_other(toy_tts, toy_voice):
    with pytest.raises(TypeError, match="either text or token_ids"):
        toy_tts.synthesize(TEXT, toy_voice, token_ids=[14])
    with pytest.raises(TypeError, match="either text or token_ids"):
        toy_tts.synthesize(voice=toy_voice)


@pytest.mark.parametrize(
    ("ids", "error"),
    [
        ([], TextError),
        ([14] * 255, TextError),
        ([[1]], TypeError),
        ([0.5], TypeError),
        ([-1], ValueError),
        ([9999], ValueError),
    ],
)
def test_bad_token_ids(toy_tts, toy_voice, ids, error):
    with pytest.raises(error):
        toy_tts.synthesize(voice=toy_voice, token_ids=ids)


def test_a_voice_of_another_backend_is_a_prompt_error(toy_tts):
    with pytest.raises(PromptError, match=r"luxtts\.prompt_mel"):
        toy_tts.synthesize(TEXT, Voice("hello", {"cosyvoice3.prompt_mel": np.zeros((1, 80))}))


@pytest.mark.parametrize(
    ("name", "value"),
    [(MEL_TENSOR, np.nan), (MEL_TENSOR, np.inf), (RMS_TENSOR, np.nan), (RMS_TENSOR, np.inf),
     (RMS_TENSOR, 0), (RMS_TENSOR, -0.1)],
)  # fmt: skip
def test_a_damaged_voice_is_a_prompt_error_not_silence_or_nan(toy_tts, toy_voice, name, value):
    damaged = toy_voice.tensors[name].copy()
    damaged.reshape(-1)[0] = value
    voice = Voice(toy_voice.prompt_text, {**toy_voice.tensors, name: damaged})
    with pytest.raises(PromptError, match="the voice is damaged"):
        toy_tts.synthesize(TEXT, voice)


def test_a_prompt_that_leaves_no_room_is_a_prompt_error(toy_tts):
    with pytest.warns(PromptWarning, match="pace"):
        voice = toy_tts.voice((buzz(5.0), 24_000), "a word or two " * 24)
    with pytest.raises(PromptError, match="no room"):
        toy_tts.synthesize(TEXT, voice)
