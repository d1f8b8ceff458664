"""pyannote's segmentation-3.0 in NumPy, from the weights of its torch checkpoint.

A sinc filter bank and two convolutions, each pooled, normalised and rectified; four bidirectional
LSTM layers; two linear layers and a classifier of seven sets of speakers.
"""

import pickle
import zipfile
from collections import OrderedDict

import numpy as np

STRIDE, POOL, SLOPE, LAYERS, RATE = 10, 3, 0.01, 4, 16_000
LOWEST_HZ = NARROWEST_HZ = 50


class _Unpickler(pickle.Unpickler):
    """Reads a checkpoint of plain tensors without torch."""

    def __init__(self, archive, root):
        super().__init__(archive.open(f"{root}/data.pkl"))
        self.archive, self.root = archive, root

    def find_class(self, module, name):
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, size, strides, *_: np.lib.stride_tricks.as_strided(
                storage[offset:], size, [4 * stride for stride in strides]
            )
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        return name  # the class of a storage, which persistent_load checks

    def persistent_load(self, identifier):
        _, kind, key, _, _ = identifier
        assert kind == "FloatStorage"
        return np.frombuffer(self.archive.read(f"{self.root}/data/{key}"), "<f4")


def load_checkpoint(path):
    """The float32 arrays of a checkpoint, by name."""
    with zipfile.ZipFile(path) as archive:
        return _Unpickler(archive, path.stem).load()["state_dict"]


def sinc_filters(low_hz, band_hz, size=251):
    """[filters, 1] each -> [2 * filters, 1, size]: even band-pass filters, then odd ones."""
    low = LOWEST_HZ + np.abs(low_hz)
    high = np.clip(low + NARROWEST_HZ + np.abs(band_hz), LOWEST_HZ, RATE / 2)
    half = size // 2
    time = 2 * np.pi * np.arange(-half, 0) / RATE
    window = 0.54 - 0.46 * np.cos(2 * np.pi * np.linspace(0, size / 2 - 1, half) / size)
    width = 2 * (high - low)
    even = 2 * (np.sin(high * time) - np.sin(low * time)) / time * window / width
    odd = 2 * (np.cos(low * time) - np.cos(high * time)) / time * window / width
    middle = np.ones_like(width)
    even = np.concatenate([even, middle, even[:, ::-1]], axis=1)
    odd = np.concatenate([odd, 0 * middle, -odd[:, ::-1]], axis=1)
    return np.concatenate([even, odd])[:, None]


def conv(x, weight, stride=1):
    """x [channels, time], weight [filters, channels, size] -> [filters, time]."""
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2], axis=1)[:, ::stride]
    return np.einsum("cts,fcs->ft", windows, weight, optimize=True)


def normalized(x, weight, bias):
    centred = x - x.mean(axis=1, keepdims=True)
    scale = np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return centred / scale * weight[:, None] + bias[:, None]


def pooled(x):
    frames = x.shape[1] // POOL
    return x[:, : frames * POOL].reshape(len(x), frames, POOL).max(axis=2)


def leaky(x):
    return np.where(x > 0, x, SLOPE * x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, weight_ih, weight_hh, bias):
    """x [time, inputs] -> [time, hidden]; gates in torch's order: in, forget, cell, out."""
    hidden = weight_hh.shape[1]
    h, c, outputs = np.zeros(hidden), np.zeros(hidden), []
    for row in x @ weight_ih.T + bias:
        gate_in, forget, cell, out = np.split(row + weight_hh @ h, 4)
        c = sigmoid(forget) * c + sigmoid(gate_in) * np.tanh(cell)
        h = sigmoid(out) * np.tanh(c)
        outputs.append(h)
    return np.array(outputs)


def segments(audio, weights):
    """audio [samples] at 16 kHz -> log probabilities [frames, 7]."""
    w = {name.removeprefix("sincnet."): array.astype(float) for name, array in weights.items()}
    x = normalized(audio[None].astype(float), w["wav_norm1d.weight"], w["wav_norm1d.bias"])
    bank = "conv1d.0.filterbank."
    x = np.abs(conv(x, sinc_filters(w[f"{bank}low_hz_"], w[f"{bank}band_hz_"]), STRIDE))
    for stage in range(3):
        if stage:
            x = conv(x, w[f"conv1d.{stage}.weight"]) + w[f"conv1d.{stage}.bias"][:, None]
        x = leaky(normalized(pooled(x), w[f"norm1d.{stage}.weight"], w[f"norm1d.{stage}.bias"]))
    x = x.T
    for layer in range(LAYERS):
        both = []
        for suffix, step in (("", 1), ("_reverse", -1)):
            names = [f"lstm.{part}_l{layer}{suffix}" for part in ("bias_ih", "bias_hh")]
            matrices = [w[f"lstm.weight_{part}_l{layer}{suffix}"] for part in ("ih", "hh")]
            both.append(lstm(x[::step], *matrices, w[names[0]] + w[names[1]])[::step])
        x = np.concatenate(both, axis=1)
    for layer in ("linear.0", "linear.1"):
        x = leaky(x @ w[f"{layer}.weight"].T + w[f"{layer}.bias"])
    x = x @ w["classifier.weight"].T + w["classifier.bias"]
    peak = x.max(axis=1, keepdims=True)
    return x - peak - np.log(np.exp(x - peak).sum(axis=1, keepdims=True))
