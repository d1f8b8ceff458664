"""From recordings of every kind to a voice, or to an error that says what to do."""

import io
import warnings

import numpy as np
import pytest
import soundfile

from tests.backends.conftest import buzz
from twinvox.backends.luxtts.prompt import MEL_TENSOR, RMS_TENSOR, make_voice
from twinvox.errors import PromptError, PromptWarning

TEXT = "This is what I say."
RATE = 24_000


def wav(samples, rate=RATE, subtype="PCM_16", file_format="WAV") -> io.BytesIO:
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, subtype=subtype, format=file_format)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize(
    ("file_format", "subtype"),
    [("WAV", "PCM_U8"), ("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "PCM_32"), ("WAV", "FLOAT"),
     ("WAV", "DOUBLE"), ("FLAC", "PCM_16"), ("OGG", "VORBIS")],
)  # fmt: skip
def test_encodings(file_format, subtype):
    voice = make_voice(wav(buzz(2.0), RATE, subtype, file_format), TEXT)
    assert voice.tensors[MEL_TENSOR].shape == ((48_000 + 128) // 256, 100)
    assert voice.tensors[RMS_TENSOR][0] == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 48_000, 96_000, 192_000])
def test_sample_rates_hear_the_same_sound(rate):
    want = make_voice(wav(buzz(1.0)), TEXT).tensors[MEL_TENSOR]
    got = make_voice(wav(buzz(1.0, rate), rate), TEXT).tensors[MEL_TENSOR]
    assert abs(len(got) - len(want)) <= 1
    # Bands below 3 kHz, away from the edges.
    np.testing.assert_allclose(got[4:80, :45], want[4:80, :45], atol=0.15)


@pytest.mark.parametrize("channels", [1, 2, 8])
def test_channels_are_mixed_down(channels):
    mono = buzz(1.0)
    voice = make_voice(wav(np.repeat(mono[:, None], channels, axis=1)), TEXT)
    want = make_voice(wav(mono), TEXT)
    np.testing.assert_allclose(voice.tensors[MEL_TENSOR], want.tensors[MEL_TENSOR], atol=1e-3)


def test_samples_and_rate_instead_of_a_file():
    voice = make_voice((buzz(1.0), RATE), TEXT)
    assert voice.tensors[MEL_TENSOR].shape[0] == (RATE + 128) // 256


@pytest.mark.parametrize(
    ("audio", "message"),
    [
        ((np.zeros(RATE, np.float32), RATE), "silent"),
        ((buzz(0.05), RATE), r"too short: 0\.05 s"),
        ((np.zeros(0, np.float32), RATE), "empty"),
        ((np.full(RATE, np.nan, np.float32), RATE), "NaN"),
        ((np.full(RATE, 1e300), RATE), "NaN or infinite"),
        ((buzz(1.0) * 32_768, RATE), r"peaks at .*e\+03; expected full scale 1\.0"),
        ((buzz(1.0) * 1e30, RATE), r"peaks at"),
        ((buzz(1.0), 4_000), "4000 Hz"),
        ((np.zeros((RATE, 9), np.float32), RATE), "8 channels"),
        ((np.zeros(RATE, np.int16), RATE), "int16"),
        ("missing.wav", "no audio file"),
    ],
)
def test_unusable_audio_is_a_prompt_error(audio, message):
    with pytest.raises(PromptError, match=message):
        make_voice(audio, TEXT)


def test_a_transcript_that_cannot_belong_to_the_recording(toy_tts):
    with pytest.raises(PromptError, match="does not belong"):
        toy_tts.voice((buzz(0.5), RATE), "far too many words for half a second of sound, really")
    with pytest.warns(PromptWarning, match="pace"):
        toy_tts.voice((buzz(4.0), RATE), "a")


def test_a_text_file_named_wav_is_a_prompt_error(tmp_path):
    path = tmp_path / "speech.wav"
    path.write_text("this is not audio")
    with pytest.raises(PromptError, match=r"speech\.wav"):
        make_voice(path, TEXT)


def test_an_empty_transcript_is_a_prompt_error(toy_tts):
    for text in ("", "  ", "?!"):
        with pytest.raises(PromptError, match="transcript"):
            toy_tts.voice((buzz(1.0), RATE), text)


@pytest.mark.parametrize("seconds", [5.1, 60.0])
def test_a_long_prompt_without_word_timing_is_refused(seconds):
    with pytest.raises(PromptError, match=rf"{seconds} s long.*words="):
        make_voice((buzz(seconds), RATE), TEXT)


def test_a_long_prompt_is_cut_with_its_transcript_by_word_timing():
    words = [("one", 0.2, 1.0), ("two", 1.5, 3.0), ("three.", 3.1, 4.5), ("four", 4.6, 5.2)]
    voice = make_voice((buzz(60.0), RATE), "one two three. four", words=words)
    assert voice.prompt_text == "one two three."
    assert voice.tensors[MEL_TENSOR].shape[0] == (round(4.54 * RATE) + 128) // 256


def test_word_timing_counts_from_the_recording_also_when_trimmed():
    samples = np.concatenate([np.zeros(2 * RATE, np.float32), buzz(6.0)])
    words = [("one", 2.1, 4.0), ("two", 4.2, 6.5), ("three", 6.6, 7.5)]
    voice = make_voice((samples, RATE), "one two three", words=words, trim=True)
    assert voice.prompt_text == "one two"
    assert voice.tensors[MEL_TENSOR].shape[0] == pytest.approx((6.54 - 1.96) * 93.75, abs=1)


@pytest.mark.parametrize("times", [(30.0, 31.0), (-2.0, -1.0), (0.0, float("nan"))])
def test_word_timing_beyond_the_cap_or_before_the_start_is_a_prompt_error(times):
    with pytest.raises(PromptError, match="no word"):
        make_voice((buzz(60.0), RATE), "late", words=[("late", *times)])


def test_edge_silence_is_warned_about_and_trimmed():
    speech = buzz(1.0)
    samples = np.concatenate([np.zeros(RATE, np.float32), speech, np.zeros(RATE // 2, np.float32)])
    with pytest.warns(PromptWarning, match=r"0\.99 s of silence before and 0\.49 s after"):
        untrimmed = make_voice((samples, RATE), TEXT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trimmed = make_voice((samples, RATE), TEXT, trim=True)
    assert untrimmed.tensors[MEL_TENSOR].shape[0] == pytest.approx(2.5 * 93.75, abs=1)
    assert trimmed.tensors[MEL_TENSOR].shape[0] == pytest.approx(1.08 * 93.75, abs=2)


@pytest.mark.parametrize("level", [0.03, 0.003, 0.0003])
def test_edge_silence_is_told_in_quiet_recordings_too(level):
    swell = np.concatenate([np.linspace(0.03, 1, RATE // 2), np.ones(RATE), np.zeros(RATE // 2)])
    loud = (buzz(2.0) * swell).astype(np.float32)
    want = make_voice((loud, RATE), TEXT, trim=True).tensors[MEL_TENSOR]
    got = make_voice((loud * np.float32(level / 0.1), RATE), TEXT, trim=True).tensors[MEL_TENSOR]
    assert len(got) == len(want)
    with pytest.warns(PromptWarning, match=r"0\.0\d s of silence before and 0\.49 s after"):
        make_voice((loud * np.float32(level / 0.1), RATE), TEXT)
