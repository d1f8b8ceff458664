"""The letter network while it learns, and the bytes it ships as (see csrc/letters.h)."""

import numpy as np
import torch
from align import ALPHABET
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from twinvox.text.g2p.letters import HEADER, MAGIC, VERSION

CHANNELS, TAPS, CONTEXT = 128, 3, 3
EDGE = len(ALPHABET) + 1
SYMBOLS = EDGE + 1  # nothing, the letters, the edge of the word
LAYERS = 12
LARGEST = 32767
HEADROOM = 2.0  # of a 16-bit activation over the largest one met
PRIMARY = np.uint64(1 << 63)

Floats = NDArray[np.float64]


class LetterNetwork(nn.Module):
    """Letters [words, length], from 1 on, to scores [words, labels, length]."""

    def __init__(self, n_labels: int) -> None:
        super().__init__()
        self.embedding = nn.Conv2d(SYMBOLS, CHANNELS, (1, 2 * CONTEXT + 1), bias=False)
        self.embedding_norm = nn.BatchNorm2d(CHANNELS)
        self.layers = nn.ModuleList(
            nn.Conv2d(CHANNELS, CHANNELS, (1, TAPS), padding=(0, TAPS // 2), bias=False)
            for _ in range(LAYERS)
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(CHANNELS) for _ in range(LAYERS))
        for norm in self.norms:
            nn.init.constant_(norm.weight, 0.5)
        self.output = nn.Conv2d(CHANNELS, n_labels, 1)
        self.to(memory_format=torch.channels_last)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        return self.output(self.states(letters)[-1])[:, :, 0]

    def states(self, letters: torch.Tensor) -> list[torch.Tensor]:
        """What the output of each layer is, [words, channels, 1, length]."""
        edged = functional.pad(letters, (1, 1), value=EDGE)
        symbols = functional.one_hot(functional.pad(edged, (CONTEXT - 1,) * 2), SYMBOLS)
        planes = symbols.permute(0, 2, 1).unsqueeze(2).to(self.embedding.weight.dtype)
        planes = planes.contiguous(memory_format=torch.channels_last)
        states = [functional.relu(self.embedding_norm(self.embedding(planes)))]
        for layer, norm in zip(self.layers, self.norms, strict=True):
            states.append(functional.relu(states[-1] + norm(layer(states[-1]))))
        return states


@torch.no_grad()
def export(
    network: LetterNetwork, labels: list[str], spoken: NDArray[np.bool_], peak: float
) -> bytes:
    """``letters.bin`` of a network, its norms folded and its weights rounded to 8 bits.

    ``spoken`` [letters, labels] tells which letter may speak which label, ``peak`` is the largest
    activation to expect.
    """
    unit = HEADROOM * peak / LARGEST
    weights, bias = _folded(network.embedding, network.embedding_norm)
    rounded, scale = _rounded(weights)  # [channels, symbols, taps]
    parts = [*_affine(scale / unit, bias / unit), rounded.transpose(2, 1, 0)]
    for layer, norm in zip(network.layers, network.norms, strict=True):
        weights, bias = _folded(layer, norm)
        rounded, scale = _rounded(weights.transpose(0, 2, 1))  # [channels, taps, channels]
        parts += [*_affine(scale, bias / unit), rounded]
    rounded, scale = _rounded(network.output.weight.double().numpy()[:, :, 0, 0])
    marks = (spoken.astype(np.uint64) << np.arange(len(spoken), dtype=np.uint64)[:, None]).sum(0)
    marks[["ˈ" in label for label in labels]] |= PRIMARY
    output_bias = network.output.bias.double().numpy()
    parts += [*_affine(scale * unit, output_bias), marks, rounded]
    blob = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
    table = b"".join(
        bytes((len(label.encode()),)) + label.encode() for label in (ALPHABET, *labels)
    )
    return HEADER.pack(MAGIC, VERSION, LAYERS, len(ALPHABET), len(labels), len(blob)) + blob + table


def _folded(layer: nn.Module, norm: nn.Module) -> tuple[Floats, Floats]:
    gain = norm.weight.double() / torch.sqrt(norm.running_var.double() + norm.eps)
    weights = layer.weight.double()[:, :, 0] * gain[:, None, None]
    return weights.numpy(), (norm.bias.double() - norm.running_mean.double() * gain).numpy()


def _rounded(weights: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Rows of weights as integers from -127 to 127, and what one of a row's units stands for."""
    rows = weights.reshape(len(weights), -1)
    scale = np.maximum(np.abs(rows).max(1), 1e-12) / 127
    return np.rint(rows / scale[:, None]).astype(np.int8).reshape(weights.shape), scale


def _affine(scale: Floats, bias: Floats) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    return scale.astype(np.float32), bias.astype(np.float32)
