"""Log-mel spectrograms in float64, by their definition."""

import numpy as np


def hz_to_mel(hz, mel_scale):
    if mel_scale == "htk":
        return 2595 * np.log10(1 + hz / 700)
    bend = 1000.0
    above = 15 + 27 * np.log(np.maximum(hz, bend) / bend) / np.log(6.4)
    return np.where(hz < bend, 3 * hz / 200, above)


def mel_to_hz(mel, mel_scale):
    if mel_scale == "htk":
        return 700 * (10 ** (mel / 2595) - 1)
    above = 1000 * 6.4 ** ((np.maximum(mel, 15) - 15) / 27)
    return np.where(mel < 15, 200 * mel / 3, above)


def filter_bank(sample_rate, n_fft, n_mels, mel_scale):
    """Triangles [n_mels, bins]: peak 1 for htk, area 1 for slaney."""
    top = hz_to_mel(np.float64(sample_rate / 2), mel_scale)
    corners = mel_to_hz(np.linspace(0, top, n_mels + 2), mel_scale)
    bins = np.arange(n_fft // 2 + 1) * sample_rate / n_fft
    left, centre, right = (corners[i : i + n_mels, None] for i in range(3))
    triangles = np.minimum((bins - left) / (centre - left), (right - bins) / (right - centre))
    heights = 2 / (right - left) if mel_scale == "slaney" else 1.0
    return np.maximum(0, triangles) * heights


def log_mel(
    samples,
    *,
    sample_rate,
    n_fft,
    hop_length,
    n_mels,
    mel_scale,
    pad,
    log_floor,
    magnitude_epsilon=0.0,
):
    padded = np.pad(samples.astype(np.float64), pad, mode="reflect")
    fitting = 1 + (len(padded) - n_fft) // hop_length
    frames = min(fitting, (len(samples) + hop_length // 2) // hop_length)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n_fft) / n_fft)
    spectra = np.array(
        [np.fft.rfft(padded[i * hop_length :][:n_fft] * window) for i in range(frames)]
    )
    magnitudes = np.sqrt(spectra.real**2 + spectra.imag**2 + magnitude_epsilon)
    mels = magnitudes @ filter_bank(sample_rate, n_fft, n_mels, mel_scale).T
    return np.log(np.maximum(mels, log_floor))
