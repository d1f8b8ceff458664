import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from tests.reference.mel import log_mel
from twinvox._native.cpu import simd_levels
from twinvox._native.mel import LogMel

VOCOS = {
    "sample_rate": 24000,
    "n_fft": 1024,
    "hop_length": 256,
    "n_mels": 100,
    "mel_scale": "htk",
    "pad": 512,
    "log_floor": 1e-7,
}
COSYVOICE3 = {
    "sample_rate": 24000,
    "n_fft": 1920,
    "hop_length": 480,
    "n_mels": 80,
    "mel_scale": "slaney",
    "pad": 720,
    "log_floor": 1e-5,
    "magnitude_epsilon": 1e-9,
}
both_sets = pytest.mark.parametrize("params", [VOCOS, COSYVOICE3], ids=["vocos", "cosyvoice3"])


def noise(n, seed=0):
    return np.random.default_rng(seed).standard_normal(n).astype(np.float32) * np.float32(0.1)


@both_sets
@settings(deadline=None, max_examples=40)
@given(n=st.integers(0, 9000), seed=st.integers(0, 2**32 - 1))
def test_equals_the_reference(params, n, seed):
    mel = LogMel(**params)
    samples = noise(mel.min_samples + n, seed)
    got, expected = mel(samples), log_mel(samples, **params)
    assert got.shape == expected.shape
    assert got.dtype == np.float32
    assert got.flags.c_contiguous
    np.testing.assert_allclose(got, expected, atol=2e-6, rtol=0)


@both_sets
def test_quiet_bins_beside_a_loud_tone(params):
    """A tone 120 dB above the noise: single precision would bury the noise."""
    t = np.arange(24000) / 24000
    samples = (np.sin(2 * np.pi * 200 * t) + 1e-6 * noise(24000)).astype(np.float32)
    params = params | {"log_floor": 1e-12, "magnitude_epsilon": 0.0}
    got, expected = LogMel(**params)(samples), log_mel(samples, **params)
    assert expected.max() - expected.min() > 14
    np.testing.assert_allclose(got, expected, atol=2e-6, rtol=0)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([1, 3, 5, 15]),
    st.integers(4, 7),
    st.integers(1, 300),
    st.integers(1, 60),
    st.sampled_from(["htk", "slaney"]),
    st.integers(0, 200),
    st.integers(0, 600),
)
def test_other_parameters(factor, power, hop_length, n_mels, mel_scale, pad, n):
    params = {
        "sample_rate": 16000,
        "n_fft": factor * 2**power,
        "hop_length": hop_length,
        "n_mels": n_mels,
        "mel_scale": mel_scale,
        "pad": pad,
        "log_floor": 1e-6,
    }
    mel = LogMel(**params)
    samples = noise(mel.min_samples + n)
    got, expected = mel(samples), log_mel(samples, **params)
    assert got.shape == expected.shape
    assert len(got) > 0
    np.testing.assert_allclose(got, expected, atol=3e-6, rtol=0)


@both_sets
@settings(deadline=None, max_examples=20)
@given(n=st.integers(0, 9000))
def test_every_simd_level_gives_the_same_bits(params, n):
    mel = LogMel(**params)
    samples = noise(mel.min_samples + n)
    expected = mel(samples)
    for level in simd_levels():
        np.testing.assert_array_equal(mel._at_level(samples, level), expected)


def test_frame_counts_of_the_contracts():
    mel = LogMel(**VOCOS)
    for n in (513, 639, 640, 895, 896, 103_936, 120_000):
        assert len(mel(noise(n))) == (n + 128) // 256
    mel = LogMel(**COSYVOICE3)
    for n in (721, 959, 960, 1439, 1440, 120_000):
        assert len(mel(noise(n))) == n // 480


def test_recorded_prompt(fixtures_dir):
    """The reference implementation's own error here is 7.1e-5, torchaudio's 1.62e-4."""
    samples = np.fromfile(fixtures_dir / "luxtts" / "prompt_24k_f32le.bin", "<f4")
    recorded = np.fromfile(fixtures_dir / "luxtts" / "prompt_mel_f32le.bin", "<f4")
    got = LogMel(**VOCOS)(samples)
    assert got.shape == (406, 100)
    assert np.abs(got * np.float32(0.1) - recorded.reshape(406, 100)).max() <= 8e-5
    for params in (VOCOS, COSYVOICE3):
        got, expected = LogMel(**params)(samples), log_mel(samples, **params)
        np.testing.assert_allclose(got, expected, atol=1e-6, rtol=0)


@both_sets
def test_silence_is_the_floor(params):
    got = LogMel(**params)(np.zeros(5000, np.float32))
    np.testing.assert_allclose(got, log_mel(np.zeros(5000), **params), rtol=2e-7)


def test_magnitude_epsilon_lifts_silence():
    params = COSYVOICE3 | {"log_floor": 1e-12}
    silence = np.zeros(5000, np.float32)
    np.testing.assert_allclose(LogMel(**params)(silence), log_mel(silence, **params), rtol=3e-7)


def test_spoilt_samples_spoil_their_frames_only():
    samples = noise(20_000)
    clean = LogMel(**VOCOS)(samples)
    for value in (np.nan, np.inf):
        spoilt = samples.copy()
        spoilt[0] = value
        got = LogMel(**VOCOS)(spoilt)
        assert not np.isfinite(got[0, 10:]).any()
        np.testing.assert_array_equal(got[3:], clean[3:])


@both_sets
def test_too_few_samples(params):
    mel = LogMel(**params)
    assert mel.min_samples == params["pad"] + 1
    assert len(mel(noise(mel.min_samples))) >= 1
    with pytest.raises(ValueError, match=f"at least {mel.min_samples} long.*got {params['pad']}"):
        mel(noise(params["pad"]))
    with pytest.raises(ValueError, match="got 0"):
        mel(noise(0))


@pytest.mark.parametrize(
    ("samples", "error", "message"),
    [
        (np.zeros(9000), TypeError, "float32 array, got float64 array: convert it with astype"),
        (np.zeros(9000, np.int16), TypeError, "got int16 array"),
        ([0.0] * 9000, TypeError, "got list"),
        (np.zeros((9000, 2), np.float32), ValueError, r"1 axes, got shape \[9000, 2\]"),
        (np.zeros((9000, 2), np.float32)[:, 0], ValueError, "numpy.ascontiguousarray"),
    ],
)
def test_bad_samples(samples, error, message):
    with pytest.raises(error, match=message):
        LogMel(**VOCOS)(samples)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_fft": 1000}, "n_fft must be 1, 3, 5 or 15 times a power of two"),
        ({"n_fft": 8}, "n_fft must be"),
        ({"hop_length": 0}, "must be positive"),
        ({"n_mels": -1}, "must be positive"),
        ({"pad": -1}, "pad not negative"),
        ({"mel_scale": "bark"}, 'mel_scale must be "htk" or "slaney", got "bark"'),
        ({"log_floor": 0.0}, "log_floor positive"),
        ({"magnitude_epsilon": float("nan")}, "magnitude_epsilon not negative"),
    ],
)
def test_bad_parameters(change, message):
    with pytest.raises(ValueError, match=message):
        LogMel(**(VOCOS | change))


def test_an_unknown_simd_level_is_refused():
    with pytest.raises(ValueError, match='no kernels for "avx9000" here'):
        LogMel(**VOCOS)._at_level(noise(9000), "avx9000")


@both_sets
def test_threads_agree_on_one_plan(params):
    mel = LogMel(**params)
    signals = [noise(30_000 + i, seed=i) for i in range(8)]
    expected = [mel(samples) for samples in signals]
    for got, want in zip(
        in_threads(lambda i: [mel(signals[i]) for _ in range(10)]), expected, strict=True
    ):
        for result in got:
            np.testing.assert_array_equal(result, want)
