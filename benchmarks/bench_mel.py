"""Log-mel spectrograms beside NumPy with scipy.fft in float32, torchaudio and librosa."""

import numpy as np
import pytest

from tests.reference.mel import filter_bank
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


@pytest.fixture(params=["1024-256-100", "1920-480-80"])
def params(request):
    return VOCOS if request.param.startswith("1024") else COSYVOICE3


@pytest.fixture(params=[5, 30], ids=lambda seconds: f"{seconds}s")
def samples(request, benchmark, params):
    benchmark.group = f"log-mel of {request.param} s, n_fft {params['n_fft']}"
    return np.random.default_rng(0).standard_normal(request.param * 24000).astype(np.float32) / 10


def measure(benchmark, function, samples, params):
    got = benchmark(function, samples)
    expected = LogMel(**params)(samples)
    np.testing.assert_allclose(got[: len(expected)], expected, atol=1e-3)


def test_twinvox(benchmark, samples, params):
    measure(benchmark, LogMel(**params), samples, params)


@pytest.mark.parametrize("level", simd_levels())
def test_level(benchmark, samples, params, level):
    benchmark.group += ", by SIMD level"
    mel = LogMel(**params)
    measure(benchmark, lambda x: mel._at_level(x, level), samples, params)


def test_numpy_scipy(benchmark, samples, params):
    from scipy.fft import rfft

    n_fft, hop_length = params["n_fft"], params["hop_length"]
    window = np.hanning(n_fft + 1)[:-1].astype(np.float32)
    bank = filter_bank(params["sample_rate"], n_fft, params["n_mels"], params["mel_scale"])
    bank = np.ascontiguousarray(bank.T, np.float32)
    epsilon = np.float32(params.get("magnitude_epsilon", 0))
    floor = np.float32(params["log_floor"])

    def log_mel(x):
        padded = np.pad(x, params["pad"], mode="reflect")
        frames = np.lib.stride_tricks.sliding_window_view(padded, n_fft)[::hop_length]
        spectra = rfft(frames * window)
        if epsilon:
            magnitudes = np.sqrt(spectra.real**2 + spectra.imag**2 + epsilon)
        else:
            magnitudes = np.abs(spectra)
        mels = magnitudes @ bank
        np.maximum(mels, floor, out=mels)
        return np.log(mels, out=mels)

    measure(benchmark, log_mel, samples, params)


@pytest.mark.filterwarnings("ignore")
def test_torchaudio(benchmark, samples, params):
    try:
        import torch
        from torchaudio.transforms import MelSpectrogram
    except (ImportError, OSError) as error:
        pytest.skip(f"torchaudio cannot be imported: {error}")
    torch.set_num_threads(1)
    slaney = params["mel_scale"] == "slaney"
    spectrogram = MelSpectrogram(
        sample_rate=params["sample_rate"],
        n_fft=params["n_fft"],
        hop_length=params["hop_length"],
        n_mels=params["n_mels"],
        mel_scale=params["mel_scale"],
        norm="slaney" if slaney else None,
        power=1,
        center=not slaney,
    )

    def log_mel(x):
        signal = torch.from_numpy(x)
        if slaney:
            pad = (params["pad"], params["pad"])
            signal = torch.nn.functional.pad(signal[None], pad, mode="reflect")[0]
        return spectrogram(signal).clamp(min=params["log_floor"]).log().T.numpy()

    measure(benchmark, log_mel, samples, params)


@pytest.mark.filterwarnings("ignore")
def test_librosa(benchmark, samples, params):
    feature = pytest.importorskip("librosa").feature
    slaney = params["mel_scale"] == "slaney"

    def log_mel(x):
        mels = feature.melspectrogram(
            y=np.pad(x, params["pad"], mode="reflect"),
            sr=params["sample_rate"],
            n_fft=params["n_fft"],
            hop_length=params["hop_length"],
            n_mels=params["n_mels"],
            htk=not slaney,
            norm="slaney" if slaney else None,
            power=1,
            center=False,
        )
        return np.log(np.maximum(mels, params["log_floor"])).T

    measure(benchmark, log_mel, samples, params)
