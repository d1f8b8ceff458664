"""Harmonic-plus-noise vocoder: log mel [batch, 100, frames] -> 48 kHz audio.

A small ConvNeXt reads the mel and predicts, per 10.7 ms frame, a pitch distribution and two
spectral envelopes. The signal is then built in closed form at 24 kHz: a band-limited pulse train
through a minimum-phase filter plus noise through another, both applied in 1024-point frames and
overlap-added, and a half-band interpolator doubles the rate.

The 1024-point transforms are factored 32 x 32 into two small products and a twiddle, which keeps
the constants at a few kilobytes and costs an eighth of a dense DFT. No operation depends on the
frame count, so one set of weights serves every bucket length.
"""

import math

import numpy as np
import torch
from torch import Tensor, nn

SAMPLE_RATE = 24_000
HOP = 256
N_MELS = 100
LOG_FLOOR = math.log(1e-7)
N_FFT = 1024
RADIX = 32
WINDOW = 2 * HOP

N_BANDS = 72
N_BURSTS = 8
PITCH_BINS = 96
PITCH_MIN_HZ = 55.0
PITCH_MAX_HZ = 500.0
PITCH_CENTRE_HZ = 165.0
PITCH_SHARPNESS = 2.0
HARMONIC_LIMIT_HZ = 11_900.0

MEL_CENTRE, MEL_SCALE = -5.0, 4.0


def pitch_bin_log() -> np.ndarray:
    """Centres of the pitch classes, natural log of Hz / PITCH_CENTRE_HZ [PITCH_BINS]."""
    lowest, highest = PITCH_MIN_HZ / PITCH_CENTRE_HZ, PITCH_MAX_HZ / PITCH_CENTRE_HZ
    return np.linspace(math.log(lowest), math.log(highest), PITCH_BINS)


def band_centres() -> np.ndarray:
    """Hz [N_BANDS]: 46 Hz apart at the bottom, 400 Hz at 12 kHz."""
    return 1500.0 * np.expm1(np.linspace(0.0, math.log1p(SAMPLE_RATE / 2 / 1500.0), N_BANDS))


def band_interpolation() -> np.ndarray:
    """Hat functions over the warped axis that spread band log gains over bins [N_BANDS, 512]."""
    bins = np.log1p(np.arange(N_FFT // 2) * SAMPLE_RATE / N_FFT / 1500.0)
    centres = np.log1p(band_centres() / 1500.0)
    return np.maximum(0.0, 1.0 - np.abs(bins[None] - centres[:, None]) / centres[1])


def mel_to_bands() -> np.ndarray:
    """Weights that average the mels around each band, a first guess of it [N_MELS, N_BANDS]."""
    top = math.log10(1.0 + SAMPLE_RATE / 2 / 700.0)
    mel_hz = 700.0 * (10.0 ** np.linspace(0.0, top, N_MELS + 2)[1:-1, None] - 1.0)
    weights = np.exp(-np.abs(mel_hz - band_centres()) / (60.0 + 0.04 * band_centres()))
    return weights / weights.sum(axis=0)


def burst_interpolation() -> np.ndarray:
    """Hat functions that spread N_BURSTS log gains over a window [N_BURSTS, 512], each sum 1."""
    position = (np.arange(WINDOW) + 0.5) / (WINDOW / N_BURSTS) - 0.5
    hats = np.maximum(0.0, 1.0 - np.abs(position - np.arange(N_BURSTS)[:, None]))
    return hats / hats.sum(axis=0)


def minimum_phase(log_gain: np.ndarray) -> np.ndarray:
    """Phase of the causal minimum-phase filter for each row of log gains [..., 512], radians."""
    full = np.concatenate([log_gain, log_gain[..., -1:], log_gain[..., :0:-1]], axis=-1)
    cepstrum = np.fft.ifft(full, axis=-1).real
    fold = np.zeros(N_FFT)
    fold[0] = fold[N_FFT // 2] = 1.0
    fold[1 : N_FFT // 2] = 2.0
    return np.fft.fft(cepstrum * fold, axis=-1).imag[..., : N_FFT // 2]


def _transform_order(per_bin: np.ndarray) -> np.ndarray:
    """Last axis from bin k = k1 + 32 k2 to (k1, k2), the layout of the factored transform."""
    split = per_bin.reshape(*per_bin.shape[:-1], RADIX // 2, RADIX)
    return np.swapaxes(split, -1, -2).reshape(per_bin.shape)


def half_band_interpolator(block: int = 64, reach: int = 16) -> np.ndarray:
    """Matrix [block + 2 reach, 2 block]: a block and what surrounds it -> twice the rate."""
    offsets = np.arange(-reach + 1, reach + 1) - 0.5
    taps = np.sinc(offsets) * np.kaiser(4 * reach + 1, 7.0)[1 + 2 * np.arange(2 * reach)]
    taps /= taps.sum()
    matrix = np.zeros((block + 2 * reach, 2 * block))
    for i in range(block):
        matrix[i + reach, 2 * i] = 1.0
        matrix[i + 1 : i + 1 + 2 * reach, 2 * i + 1] = taps
    return matrix


class ConvNeXtBlock(nn.Module):
    def __init__(self, width: int, expansion: int, kernel: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
        self.norm = nn.LayerNorm(width)
        self.expand = nn.Linear(width, expansion * width)
        self.project = nn.Linear(expansion * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.3))

    def forward(self, x: Tensor) -> Tensor:
        y = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        y = self.project(nn.functional.gelu(self.expand(self.norm(y)), approximate="tanh"))
        return x + self.scale * y


class FactoredDft(nn.Module):
    """1024-point real transforms as 32 x 32 products; spectra are [.., k1 32, (re 16 | im 16)].

    Bin k = k1 + 32 k2 for k below 512; the Nyquist bin is not represented.
    """

    def __init__(self) -> None:
        super().__init__()
        r = np.arange(RADIX)
        half = np.arange(RADIX // 2)
        inner = 2 * np.pi * np.outer(r, half) / RADIX
        outer = 2 * np.pi * np.outer(r, r) / RADIX
        twiddle = 2 * np.pi * np.outer(r, r) / N_FFT
        cos, sin = np.cos, np.sin
        constants = {
            # analysis: rows n2 -> k1 (re over im), then columns n1 -> k2
            "rows_in": np.vstack([cos(inner), -sin(inner)]),
            "columns_in": np.vstack(
                [np.hstack([cos(inner), -sin(inner)]), np.hstack([sin(inner), cos(inner)])]
            ),
            # synthesis: columns k2 -> n1 (re | im), then rows k1 -> n2
            "columns_out": np.vstack(
                [np.hstack([cos(inner.T), sin(inner.T)]), np.hstack([-sin(inner.T), cos(inner.T)])]
            ),
            "rows_out": np.hstack([cos(outer), -sin(outer)]) * 2.0 / N_FFT,
            "twiddle_re": cos(twiddle),
            "twiddle_im": sin(twiddle),
        }
        for name, value in constants.items():
            self.register_buffer(name, torch.tensor(value, dtype=torch.float32), persistent=False)

    def analyse(self, frames: Tensor) -> Tensor:
        """[batch, frames, 512] -> spectra, the second half of each frame taken as zeros."""
        rows = frames.reshape(int(frames.shape[0]), -1, RADIX // 2, RADIX)
        a = torch.matmul(self.rows_in, rows)
        re, im = a[:, :, :RADIX], a[:, :, RADIX:]
        b_re = re * self.twiddle_re + im * self.twiddle_im
        b_im = im * self.twiddle_re - re * self.twiddle_im
        return torch.matmul(torch.cat([b_re, b_im], dim=-1), self.columns_in)

    def synthesise(self, spectra: Tensor) -> Tensor:
        """Spectra -> [batch, frames, 1024]."""
        a = torch.matmul(spectra, self.columns_out)
        re, im = a[..., :RADIX], a[..., RADIX:]
        b_re = re * self.twiddle_re - im * self.twiddle_im
        b_im = im * self.twiddle_re + re * self.twiddle_im
        y = torch.matmul(self.rows_out, torch.cat([b_re, b_im], dim=2))
        return y.reshape(int(spectra.shape[0]), -1, N_FFT)


class Vocoder(nn.Module):
    """Log mel [batch, 100, frames] -> audio [batch, (frames - 1) * 512] at 48 kHz."""

    def __init__(
        self, width: int = 160, blocks: int = 5, expansion: int = 3, kernel: int = 7
    ) -> None:
        super().__init__()
        self.entry = nn.Conv1d(N_MELS, width, 5, padding=2)
        self.blocks = nn.ModuleList(ConvNeXtBlock(width, expansion, kernel) for _ in range(blocks))
        self.exit_norm = nn.LayerNorm(width)
        self.pitch_head = nn.Linear(width, PITCH_BINS)
        self.band_head = nn.Linear(width, 2 * N_BANDS)
        self.burst_head = nn.Linear(width, N_BURSTS + 2)
        with torch.no_grad():
            for head in (self.band_head, self.burst_head):
                head.weight.mul_(0.1)
                head.bias.zero_()
            self.band_head.bias.fill_(-2.0)
        self.dft = FactoredDft()
        self._register_constants()

    def _register_constants(self) -> None:
        bands = band_interpolation()
        position = np.arange(HOP)
        rng = np.random.default_rng(20_480)
        constants = {
            "band_gain": _transform_order(bands),
            "band_phase": _transform_order(minimum_phase(bands)),
            "mel_follow": mel_to_bands(),
            "burst_shape": burst_interpolation(),
            "window": np.hanning(WINDOW + 1)[:-1],
            "ramp": position / SAMPLE_RATE,
            "ramp_squared": position**2 / (2.0 * HOP * SAMPLE_RATE),
            "harmonic_limit": np.array([[HARMONIC_LIMIT_HZ]]),
            "pitch_centres": pitch_bin_log()[:, None],
            "noise_blocks": rng.standard_normal((64, HOP)),
            "noise_signs": rng.choice([-1.0, 1.0], (53, HOP)),
            "interpolator": half_band_interpolator(),
        }
        for name, value in constants.items():
            self.register_buffer(name, torch.tensor(value, dtype=torch.float32), persistent=False)

    def predict(self, mel: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Pitch logits [.., 96], band log gains [.., 144], burst shape [.., 10] of every frame."""
        mel = (mel - MEL_CENTRE) / MEL_SCALE
        x = self.entry(mel).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        x = self.exit_norm(x)
        envelope = MEL_SCALE * torch.matmul(mel.transpose(1, 2), self.mel_follow) + MEL_CENTRE
        bands = self.band_head(x) + torch.cat([envelope, envelope], dim=-1)
        return self.pitch_head(x), bands, self.burst_head(x)

    def pitch_hz(self, logits: Tensor) -> Tensor:
        """Expected pitch under the sharpened distribution [batch, frames], Hz."""
        weights = torch.softmax(PITCH_SHARPNESS * logits.float(), dim=-1)
        log_ratio = torch.matmul(weights, self.pitch_centres).squeeze(-1)
        return PITCH_CENTRE_HZ * torch.exp(log_ratio)

    def pulse_train(self, pitch: Tensor, offset: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Pitch [batch, n] -> unit-power pulses and their phase in cycles [batch, n - 1, 256]."""
        start, change = pitch[:, :-1], pitch[:, 1:] - pitch[:, :-1]
        cycles = (start + 0.5 * change) * (HOP / SAMPLE_RATE)
        # Multiples of 1/256 add up exactly in fp32; only the small rest is rounded.
        coarse = torch.floor(cycles * 256.0) / 256.0
        fine = cycles - coarse
        coarse, fine = torch.cumsum(coarse, dim=1) - coarse, torch.cumsum(fine, dim=1) - fine
        origin = coarse - torch.floor(coarse) + fine
        if offset is not None:
            origin = origin + offset
        origin = origin - torch.floor(origin)
        start, change = start.unsqueeze(-1), change.unsqueeze(-1)
        phase = origin.unsqueeze(-1) + start * self.ramp + change * self.ramp_squared
        phase = phase - torch.floor(phase + 0.5)
        # One count per block: a count per sample would toggle on the last bit of the pitch.
        harmonics = torch.floor(self.harmonic_limit / torch.maximum(pitch[:, :-1], pitch[:, 1:]))
        harmonics = harmonics.unsqueeze(-1)
        distance = torch.clamp(torch.abs(phase), min=1e-4) * math.pi
        kernel = torch.sin((2.0 * harmonics + 1.0) * distance) / torch.sin(distance)
        return torch.rsqrt(2.0 * harmonics) * (kernel - 1.0), phase

    def stored_noise(self, pitch: Tensor) -> Tensor:
        """Repeatable white noise [batch, frames - 1, 256], period 64 * 53 blocks."""
        index = torch.cumsum(pitch[:, 1:] * 0.0 + 1.0, dim=1).unsqueeze(-1)

        def look_up(table: Tensor) -> Tensor:
            rows = int(table.shape[0])
            row = index - rows * torch.floor((index + 0.5) / rows)
            chosen = torch.eq(row, torch.arange(rows, dtype=torch.float32)).float()
            return torch.matmul(chosen, table)

        return look_up(self.noise_blocks) * look_up(self.noise_signs)

    def filters(self, bands: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Band log gains -> (re, im) of the filters of pulses and of noise, each [.., 32, 16]."""
        batch, half = int(bands.shape[0]), RADIX // 2
        found = []
        for log_gain in (bands[..., :N_BANDS], bands[..., N_BANDS:]):
            gain = torch.exp(torch.matmul(log_gain, self.band_gain)).reshape(batch, -1, RADIX, half)
            phase = torch.matmul(log_gain, self.band_phase).reshape(batch, -1, RADIX, half)
            found.append((gain * torch.cos(phase), gain * torch.sin(phase)))
        return found

    def noise_shape(self, bursts: Tensor, phase: Tensor) -> Tensor:
        """Envelope of the noise in every window [batch, frames, 512], in step with the pulses."""
        angle = 2.0 * math.pi * phase
        shape = torch.matmul(bursts[..., :N_BURSTS], self.burst_shape)
        shape = shape + bursts[..., N_BURSTS : N_BURSTS + 1] * torch.cos(angle)
        return torch.exp(shape + bursts[..., N_BURSTS + 1 :] * torch.sin(angle))

    def render(
        self,
        pitch: Tensor,
        filters: list[tuple[Tensor, Tensor]],
        bursts: Tensor,
        noise: Tensor,
        offset: Tensor | None = None,
    ) -> Tensor:
        """Controls and noise -> blocks of 24 kHz audio [batch, frames - 1, 256]."""
        pulses, phase = self.pulse_train(pitch, offset)
        pulses, noise, phase = (_window_pairs(x) for x in (pulses, noise, phase))
        noise = noise * (self.window * self.noise_shape(bursts, phase))
        of_pulses, of_noise = filters
        spectra = _apply(of_pulses, self.dft.analyse(pulses * self.window))
        spectra = spectra + _apply(of_noise, self.dft.analyse(noise))
        return _overlap_add(self.dft.synthesise(spectra))

    def double_rate(self, blocks: Tensor) -> Tensor:
        """[batch, frames - 1, 256] at 24 kHz -> [batch, samples] at 48 kHz."""
        batch, block = int(blocks.shape[0]), 64
        x = blocks.reshape(batch, -1, block)
        edge = x[:, :1] * 0.0
        before = torch.cat([edge, x[:, :-1]], dim=1)[..., -16:]
        after = torch.cat([x[:, 1:], edge], dim=1)[..., :16]
        return torch.matmul(torch.cat([before, x, after], dim=-1), self.interpolator).reshape(
            batch, -1
        )

    def forward(self, mel: Tensor) -> Tensor:
        logits, bands, bursts = self.predict(mel)
        pitch = self.pitch_hz(logits)
        return self.double_rate(
            self.render(pitch, self.filters(bands), bursts, self.stored_noise(pitch))
        )


def _apply(gains: tuple[Tensor, Tensor], spectra: Tensor) -> Tensor:
    gain_re, gain_im = gains
    re, im = spectra[..., : RADIX // 2], spectra[..., RADIX // 2 :]
    return torch.cat([re * gain_re - im * gain_im, re * gain_im + im * gain_re], dim=-1)


def _window_pairs(blocks: Tensor) -> Tensor:
    """Blocks [batch, n, 256] -> windows around every frame centre [batch, n + 1, 512]."""
    edge = blocks[:, :1] * 0.0
    return torch.cat([torch.cat([edge, blocks], dim=1), torch.cat([blocks, edge], dim=1)], dim=-1)


def _overlap_add(frames: Tensor) -> Tensor:
    """Frames [batch, n, 1024], a block before their centres -> blocks [batch, n - 1, 256]."""
    first, second, third, fourth = (frames[..., i * HOP : (i + 1) * HOP] for i in range(4))
    edge = third[:, :1] * 0.0
    third = torch.cat([edge, third[:, :-2]], dim=1)
    fourth = torch.cat([edge, edge, fourth[:, :-3]], dim=1)
    return first[:, 1:] + second[:, :-1] + third + fourth
