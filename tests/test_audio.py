import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from twinvox.audio import SegmentJoiner, edge_silence, write_wav
from twinvox.errors import TwinvoxError

RATE = 48_000
FADE = 384


def join(lengths, value=1.0):
    joiner = SegmentJoiner(RATE)
    parts = [joiner.push(np.full(n, value, np.float32)) for n in lengths]
    return np.concatenate([*parts, joiner.finish()])


def test_one_segment_is_unchanged():
    samples = np.random.default_rng(0).normal(size=2_000).astype(np.float32)
    joiner = SegmentJoiner(RATE)
    np.testing.assert_array_equal(np.concatenate([joiner.push(samples), joiner.finish()]), samples)


def test_segments_overlap_by_eight_milliseconds():
    assert len(join([5_000, 3_000])) == 8_000 - FADE


def test_the_fade_shrinks_to_half_of_the_shorter_side():
    assert len(join([5_000, 100])) == 5_100 - 50
    assert len(join([100, 5_000])) == 5_100 - 50


@given(st.lists(st.integers(0, 1_500), max_size=6))
def test_the_fades_of_a_constant_sum_to_the_constant(lengths):
    joined = join(lengths)
    np.testing.assert_allclose(joined, 1.0, atol=1e-6)
    assert len(joined) <= sum(lengths)


def test_the_cross_fade_is_a_cosine():
    joiner = SegmentJoiner(RATE)
    first = joiner.push(np.ones(4_000, np.float32))
    second = joiner.push(np.zeros(4_000, np.float32))
    phase = (np.arange(FADE) + 0.5) / FADE
    np.testing.assert_array_equal(first, 1)
    np.testing.assert_allclose(second[:FADE], (1 + np.cos(np.pi * phase)) / 2, atol=1e-6)


def test_edge_silence_in_seconds():
    sound = np.sin(np.arange(RATE) * 0.05).astype(np.float32)
    padded = np.concatenate([np.zeros(RATE // 2), sound, np.zeros(RATE // 4)]).astype(np.float32)
    assert edge_silence(padded, RATE) == pytest.approx((0.5, 0.25), abs=0.011)
    assert edge_silence(sound, RATE) == pytest.approx((0, 0), abs=0.011)
    assert edge_silence(np.zeros(RATE, np.float32), RATE) == pytest.approx((1, 0), abs=0.011)


@pytest.mark.parametrize("noise_db", [-80, -60, -50, -45])
def test_edge_silence_under_background_noise(noise_db):
    rng = np.random.default_rng(1)
    sound = 0.1 * np.sin(np.arange(RATE) * 0.05) * np.sqrt(2)
    pauses = np.ones(RATE)
    pauses[RATE // 3 : RATE // 2] = 0
    padded = np.concatenate([np.zeros(RATE // 2), sound * pauses, np.zeros(RATE // 4)])
    noisy = (padded + rng.normal(0, 10 ** (noise_db / 20), len(padded))).astype(np.float32)
    assert edge_silence(noisy, RATE) == pytest.approx((0.5, 0.25), abs=0.021)


def test_wav_is_16_bit_mono(tmp_path):
    samples = np.sin(np.arange(1_000) * 0.05).astype(np.float32)
    write_wav(tmp_path / "a.wav", samples, RATE)
    info = soundfile.info(tmp_path / "a.wav")
    assert (info.samplerate, info.channels, info.subtype) == (RATE, 1, "PCM_16")
    np.testing.assert_allclose(soundfile.read(tmp_path / "a.wav")[0], samples, atol=1 / 32_000)


def test_an_unwritable_target_is_an_error_of_our_tree(tmp_path):
    with pytest.raises(TwinvoxError, match="cannot write"):
        write_wav(tmp_path / "no" / "a.wav", np.zeros(10, np.float32), RATE)
