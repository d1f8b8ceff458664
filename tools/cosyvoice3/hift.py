"""CosyVoice3's vocoder: HiFT, a neural source filter that ends in an inverse STFT, at 24 kHz."""

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_SLOPE = 0.1  # of the leaky ReLU before each upsampling
_MAX_MAGNITUDE = 100.0
_AUDIO_LIMIT = 0.99
_SPECTRUM_STD = 0.1
_LOG_MAGNITUDE = -2.0
_PITCH_HZ, _PITCH_SPREAD = 160.0, 5.0  # random weights then make voiced frames


@dataclass(frozen=True)
class HiftConfig:
    """The published sizes."""

    sample_rate: int = 24_000
    n_mels: int = 80
    frames: int = 500
    base_channels: int = 512
    upsample_rates: tuple[int, ...] = (8, 5, 3)
    upsample_kernels: tuple[int, ...] = (16, 11, 7)
    resblock_kernels: tuple[int, ...] = (3, 7, 11)
    source_kernels: tuple[int, ...] = (7, 7, 11)
    dilations: tuple[int, ...] = (1, 3, 5)
    n_fft: int = 16
    hop_length: int = 4
    pitch_channels: int = 512
    pitch_layers: int = 5
    n_harmonics: int = 8  # above the fundamental
    sine_amplitude: float = 0.1
    noise_std: float = 0.003
    voiced_from_hz: float = 10.0

    @property
    def samples_per_frame(self) -> int:
        return math.prod(self.upsample_rates) * self.hop_length


class _Snake(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.rand(channels) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        alpha = self.alpha[None, :, None]
        return x + torch.sin(x * alpha).pow(2) / alpha


class _ResBlock(nn.Module):
    def __init__(self, channels: int, kernel: int, dilations: tuple[int, ...]) -> None:
        super().__init__()
        self.branches = nn.ModuleList(
            nn.Sequential(
                _Snake(channels),
                _conv(channels, channels, kernel, dilation),
                _Snake(channels),
                _conv(channels, channels, kernel),
            )
            for dilation in dilations
        )

    def forward(self, x: Tensor) -> Tensor:
        for branch in self.branches:
            x = x + branch(x)
        return x


class _PitchPredictor(nn.Module):
    """Mel [1, n_mels, frames] to Hz [1, frames]."""

    def __init__(self, config: HiftConfig) -> None:
        super().__init__()
        widths = [config.n_mels] + [config.pitch_channels] * config.pitch_layers
        self.condnet = nn.Sequential()
        for n_in, n_out in pairwise(widths):
            self.condnet.extend([_conv(n_in, n_out, 3), nn.ELU()])
        self.classifier = nn.Linear(config.pitch_channels, 1)
        nn.init.normal_(self.classifier.weight, std=_PITCH_SPREAD)
        nn.init.constant_(self.classifier.bias, _PITCH_HZ)

    def forward(self, mel: Tensor) -> Tensor:
        return self.classifier(self.condnet(mel).transpose(1, 2)).squeeze(-1).abs()


class _Source(nn.Module):
    """Hz [1, frames] to the excitation [1, 1, samples]: harmonics where voiced, else noise.

    The noise and the first phases are fixed, so that a model speaks alike each time.
    """

    def __init__(self, config: HiftConfig) -> None:
        super().__init__()
        self.config = config
        hop, n_sines = config.samples_per_frame, config.n_harmonics + 1
        self.register_buffer("harmonics", torch.arange(1.0, n_sines + 1)[None, :, None])
        phase = torch.rand(1, n_sines, 1)
        phase[:, 0] = 0
        self.register_buffer("phase", phase)
        self.register_buffer("noise", torch.randn(1, n_sines, config.frames * hop))
        self.register_buffer("steps", torch.arange(1.0, hop + 1))
        self.merge = nn.Linear(n_sines, 1)

    def forward(self, pitch: Tensor) -> Tensor:
        config = self.config
        hop = config.samples_per_frame
        cycles = pitch[:, None] * self.harmonics / config.sample_rate  # a sample
        advance = _fraction(cycles * hop)
        start = _fraction(torch.cumsum(advance, dim=-1) - advance + self.phase)
        phase = (start[..., None] + cycles[..., None] * self.steps).flatten(2)
        sines = config.sine_amplitude * torch.sin(2 * math.pi * _fraction(phase))
        voiced = (pitch > config.voiced_from_hz).float()[:, None]
        voiced = F.interpolate(voiced, scale_factor=float(hop), mode="nearest")
        noise_std = voiced * config.noise_std + (1 - voiced) * config.sine_amplitude / 3
        excitation = sines * voiced + noise_std * self.noise
        return torch.tanh(self.merge(excitation.transpose(1, 2))).transpose(1, 2)


class _Stft(nn.Module):
    """The transform of short windows, forth and back, by convolution."""

    def __init__(self, config: HiftConfig) -> None:
        super().__init__()
        n_fft, self.hop = config.n_fft, config.hop_length
        self.margin = n_fft // 2
        window = torch.hann_window(n_fft)
        bins = torch.arange(n_fft // 2 + 1)[:, None]
        angles = 2 * math.pi / n_fft * bins * torch.arange(n_fft)
        basis = torch.cat([angles.cos(), -angles.sin()])
        twice = torch.full((n_fft // 2 + 1, 1), 2.0 / n_fft)
        twice[[0, -1]] /= 2
        self.register_buffer("analysis", (basis * window)[:, None])
        self.register_buffer("synthesis", (basis * window * twice.repeat(2, 1))[:, None])
        n_windows = config.frames * config.samples_per_frame // config.hop_length + 1
        overlap = F.conv_transpose1d(
            torch.ones(1, 1, n_windows), window.square()[None, None], stride=self.hop
        )
        self.register_buffer("gain", 1 / overlap[..., self.margin : -self.margin])

    def forward(self, samples: Tensor) -> Tensor:
        """Real and imaginary parts [1, n_fft + 2, windows] of [1, 1, samples]."""
        padded = F.pad(samples, (self.margin, self.margin), mode="reflect")
        return F.conv1d(padded, self.analysis, stride=self.hop)

    def inverse(self, spectrum: Tensor) -> Tensor:
        samples = F.conv_transpose1d(spectrum, self.synthesis, stride=self.hop)
        return samples[..., self.margin : -self.margin] * self.gain


class Hift(nn.Module):
    """mel [1, n_mels, frames], num_valid_frames [1] -> audio [1, samples], its length [1]."""

    def __init__(self, config: HiftConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or HiftConfig()
        self.pitch = _PitchPredictor(config)
        self.source = _Source(config)
        self.stft = _Stft(config)
        widths = [config.base_channels >> level for level in range(len(config.upsample_rates) + 1)]
        self.conv_pre = _conv(config.n_mels, widths[0], 7)
        self.ups = nn.ModuleList(
            nn.ConvTranspose1d(n_in, n_out, kernel, rate, (kernel - rate) // 2)
            for n_in, n_out, kernel, rate in zip(
                widths, widths[1:], config.upsample_kernels, config.upsample_rates, strict=False
            )
        )
        rates = [math.prod(config.upsample_rates[level + 1 :]) for level in range(len(self.ups))]
        self.source_downs = nn.ModuleList(
            nn.Conv1d(config.n_fft + 2, width, 2 * rate, rate, rate // 2)
            if rate > 1
            else nn.Conv1d(config.n_fft + 2, width, 1)
            for width, rate in zip(widths[1:], rates, strict=True)
        )
        self.source_blocks = nn.ModuleList(
            _ResBlock(width, kernel, config.dilations)
            for width, kernel in zip(widths[1:], config.source_kernels, strict=True)
        )
        self.blocks = nn.ModuleList(
            nn.ModuleList(
                _ResBlock(width, kernel, config.dilations) for kernel in config.resblock_kernels
            )
            for width in widths[1:]
        )
        self.conv_post = _conv(widths[-1], config.n_fft + 2, 7)
        nn.init.normal_(self.conv_post.weight, std=_SPECTRUM_STD)
        nn.init.constant_(self.conv_post.bias[: config.n_fft // 2 + 1], _LOG_MAGNITUDE)

    def forward(self, mel: Tensor, num_valid_frames: Tensor) -> tuple[Tensor, Tensor]:
        valid = torch.arange(self.config.frames) < num_valid_frames
        mel = mel * valid.float()
        source = self.stft(self.source(self.pitch(mel)))
        x = self.conv_pre(mel)
        for level, up in enumerate(self.ups):
            x = up(F.leaky_relu(x, _SLOPE))
            if level == len(self.ups) - 1:
                x = F.pad(x, (1, 0), mode="reflect")
            x = x + self.source_blocks[level](self.source_downs[level](source))
            x = sum(block(x) for block in self.blocks[level]) / len(self.blocks[level])
        magnitude, phase = self.conv_post(F.leaky_relu(x)).chunk(2, dim=1)
        magnitude = magnitude.exp().clamp(max=_MAX_MAGNITUDE)
        phase = torch.sin(phase)
        spectrum = torch.cat([magnitude * phase.cos(), magnitude * phase.sin()], dim=1)
        audio = self.stft.inverse(spectrum).clamp(-_AUDIO_LIMIT, _AUDIO_LIMIT)
        return audio.squeeze(1), num_valid_frames * self.config.samples_per_frame


def _conv(n_in: int, n_out: int, kernel: int, dilation: int = 1) -> nn.Conv1d:
    """A convolution that keeps the length."""
    return nn.Conv1d(n_in, n_out, kernel, padding=dilation * (kernel - 1) // 2, dilation=dilation)


def _fraction(x: Tensor) -> Tensor:
    # not x % 1, which coremltools 9.0 turns into zeros
    return x - torch.floor(x)
