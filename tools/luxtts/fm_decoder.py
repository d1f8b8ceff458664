"""ZipVoice-Distill's flow-matching decoder: a Zipformer2 that keeps the number of frames.

Inside, tensors are [frames, 1, channels] as upstream has them, so that the converter is given
the same reshapes and transposes.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_MASKED = -1000.0
_TIME_PERIOD = 1e4
_HIDDEN_GAIN = 2.0  # inner values of deviation 2, where the activations bend
_BRANCH_GAIN = 0.5  # of what a branch adds to the sum


@dataclass(frozen=True)
class FmDecoderConfig:
    """The published sizes."""

    frames: int = 1024
    n_mels: int = 100
    dim: int = 512
    downsampling: tuple[int, ...] = (1, 2, 4, 2, 1)
    n_layers: tuple[int, ...] = (2, 2, 4, 4, 4)
    conv_kernels: tuple[int, ...] = (31, 15, 7, 15, 31)
    feedforward_dim: int = 1536  # of the second; 3/4 and 5/4 of it for the first and third
    n_heads: int = 4
    query_dim: int = 32  # of a head, as the next two
    position_dim: int = 4
    value_dim: int = 12
    encoding_dim: int = 48  # of a relative position
    time_dim: int = 192


def _swoosh(x: Tensor, shift: float, offset: float) -> Tensor:
    shifted = x - shift
    softplus = (1.0 + shifted.exp()).log()
    return torch.where(softplus == math.inf, shifted, softplus) - 0.08 * x - offset


class _SwooshL(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return _swoosh(x, 4.0, 0.035)


class _SwooshR(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return _swoosh(x, 1.0, 0.313261687)


class _BiasNorm(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(0.1 * torch.randn(dim))
        self.log_scale = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        variance = (x - self.bias).pow(2).mean(-1, keepdim=True)
        return x * (variance**-0.5 * self.log_scale.exp())


class _Bypass(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(0.4 + 0.5 * torch.rand(dim))

    def forward(self, before: Tensor, after: Tensor) -> Tensor:
        return before + (after - before) * self.scale


class _RelativePositions(nn.Module):
    """Encodings [1, 2 * rows - 1, dim] of the distances from 1 - rows to rows - 1."""

    def __init__(self, dim: int, rows: int) -> None:
        super().__init__()
        distance = torch.arange(1 - rows, rows).float()
        width = math.sqrt(dim)
        compressed = width * distance.sign() * torch.log1p(distance.abs() / width)
        angle = torch.atan(compressed * (2 * math.pi / dim))[:, None]
        angles = angle * torch.arange(1, dim // 2 + 1)
        encodings = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)
        encodings[:, -1] = 1.0
        self.register_buffer("encodings", encodings[None])

    def forward(self) -> Tensor:
        return self.encodings


class _AttentionWeights(nn.Module):
    """Shares [heads, 1, rows, rows] of the keys for every query."""

    def __init__(self, config: FmDecoderConfig, rows: int) -> None:
        super().__init__()
        self.config = config
        self.rows = rows
        per_head = 2 * config.query_dim + config.position_dim
        self.in_proj = _linear(config.dim, config.n_heads * per_head, config.query_dim**-0.25)
        positions = config.n_heads * config.position_dim
        self.linear_pos = _linear(config.encoding_dim, positions, bias=False)

    def forward(self, x: Tensor, encodings: Tensor, padding: Tensor) -> Tensor:
        config = self.config
        inner = config.n_heads * config.query_dim
        query, key, position = self.in_proj(x).split(
            [inner, inner, config.n_heads * config.position_dim], dim=-1
        )
        query = query.unflatten(-1, (config.n_heads, -1)).permute(2, 1, 0, 3)
        key = key.unflatten(-1, (config.n_heads, -1)).permute(2, 1, 3, 0)
        position = position.unflatten(-1, (config.n_heads, -1)).permute(2, 1, 0, 3)
        distance = self.linear_pos(encodings).unflatten(-1, (config.n_heads, -1))
        by_distance = torch.matmul(position, distance.permute(2, 0, 3, 1))
        scores = torch.matmul(query, key) + self._aligned(by_distance)
        return F.softmax(scores.masked_fill(padding[:, None], _MASKED), dim=-1)

    def _aligned(self, by_distance: Tensor) -> Tensor:
        """Scores of keys from scores of distances [heads, 1, rows, 2 * rows - 1]."""
        heads, rows = self.config.n_heads, self.rows
        shape = (heads, 1, rows, rows)
        if torch.jit.is_tracing():  # as upstream exports; a strided view is what eager mode runs
            index = torch.arange(rows - 1, -1, -1)[:, None] + torch.arange(rows)
            return by_distance.flatten(0, 2).gather(1, index.repeat(heads, 1)).reshape(shape)
        head, item, row, step = by_distance.stride()
        return by_distance.as_strided(shape, (head, item, row - step, step), step * (rows - 1))


class _SelfAttention(nn.Module):
    def __init__(self, config: FmDecoderConfig) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        inner = config.n_heads * config.value_dim
        self.in_proj = _linear(config.dim, inner)
        self.out_proj = _linear(inner, config.dim)

    def forward(self, x: Tensor, weights: Tensor) -> Tensor:
        value = self.in_proj(x).unflatten(-1, (self.n_heads, -1)).permute(2, 1, 0, 3)
        mixed = torch.matmul(weights, value).permute(2, 1, 0, 3)
        return self.out_proj(mixed.flatten(2))


class _NonlinAttention(nn.Module):
    """Gated values mixed by the shares of the first head."""

    def __init__(self, config: FmDecoderConfig) -> None:
        super().__init__()
        hidden = 3 * config.dim // 4
        self.in_proj = _linear(config.dim, 3 * hidden)
        self.out_proj = _linear(hidden, config.dim, _BRANCH_GAIN)

    def forward(self, x: Tensor, weights: Tensor) -> Tensor:
        gate, value, factor = self.in_proj(x).chunk(3, dim=-1)
        value = (value * gate.tanh()).unflatten(-1, (1, -1)).permute(2, 1, 0, 3)
        mixed = torch.matmul(weights[0:1], value).permute(2, 1, 0, 3)
        return self.out_proj(mixed.flatten(2) * factor)


class _Convolution(nn.Module):
    def __init__(self, config: FmDecoderConfig, kernel: int) -> None:
        super().__init__()
        dim = config.dim
        self.in_proj = _linear(dim, 2 * dim, _HIDDEN_GAIN)
        self.depthwise = nn.Conv1d(dim, dim, kernel, groups=dim, padding=kernel // 2)
        self.activation = _SwooshR()
        self.out_proj = _linear(dim, dim, _BRANCH_GAIN)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        value, gate = self.in_proj(x).chunk(2, dim=-1)
        x = (value * gate.sigmoid()).permute(1, 2, 0).masked_fill(padding[:, None], 0.0)
        return self.out_proj(self.activation(self.depthwise(x).permute(2, 0, 1)))


def _feedforward(dim: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(
        _linear(dim, hidden, _HIDDEN_GAIN), _SwooshL(), _linear(hidden, dim, _BRANCH_GAIN)
    )


class _Layer(nn.Module):
    def __init__(self, config: FmDecoderConfig, kernel: int, rows: int) -> None:
        super().__init__()
        dim, hidden = config.dim, config.feedforward_dim
        self.attention_weights = _AttentionWeights(config, rows)
        self.feedforward1 = _feedforward(dim, hidden * 3 // 4)
        self.feedforward2 = _feedforward(dim, hidden)
        self.feedforward3 = _feedforward(dim, hidden * 5 // 4)
        self.nonlin_attention = _NonlinAttention(config)
        self.self_attention1 = _SelfAttention(config)
        self.self_attention2 = _SelfAttention(config)
        self.convolution1 = _Convolution(config, kernel)
        self.convolution2 = _Convolution(config, kernel)
        self.bypass_middle = _Bypass(dim)
        self.bypass = _Bypass(dim)
        self.norm = _BiasNorm(dim)

    def forward(self, x: Tensor, encodings: Tensor, time: Tensor, padding: Tensor) -> Tensor:
        before = x
        weights = self.attention_weights(x, encodings, padding)
        x = x + time
        x = x + self.feedforward1(x)
        x = x + self.nonlin_attention(x, weights)
        x = x + self.self_attention1(x, weights)
        x = x + self.convolution1(x, padding)
        x = x + self.feedforward2(x)
        x = self.bypass_middle(before, x)
        x = x + self.self_attention2(x, weights)
        x = x + self.convolution2(x, padding)
        x = x + self.feedforward3(x)
        return self.bypass(before, self.norm(x))


class _Stack(nn.Module):
    """Layers at a lower rate of frames, and the way there and back."""

    def __init__(self, config: FmDecoderConfig, factor: int, n_layers: int, kernel: int) -> None:
        super().__init__()
        rows = config.frames // factor
        self.factor = factor
        self.time = nn.Sequential(_SwooshR(), _linear(config.time_dim, config.dim))
        self.positions = _RelativePositions(config.encoding_dim, rows)
        self.layers = nn.ModuleList(_Layer(config, kernel, rows) for _ in range(n_layers))
        if factor > 1:
            self.logits = nn.Parameter(torch.randn(factor))
            self.bypass = _Bypass(config.dim)

    def forward(self, x: Tensor, time: Tensor, padding: Tensor) -> Tensor:
        before, encodings, time = x, self.positions(), self.time(time)
        if self.factor > 1:
            x, padding = self._downsample(x), padding[:, :: self.factor]
        for layer in self.layers:
            x = layer(x, encodings, time, padding)
        return x if self.factor == 1 else self.bypass(before, self._upsample(x))

    def _downsample(self, x: Tensor) -> Tensor:
        shares = self.logits.softmax(dim=0)[:, None, None]
        return (x.unflatten(0, (-1, self.factor)) * shares).sum(dim=1)

    def _upsample(self, x: Tensor) -> Tensor:
        return x[:, None].expand(-1, self.factor, -1, -1).flatten(0, 1)


class _TimeEmbedding(nn.Module):
    """[batch, time_dim] of the solver's time and the guidance scale, [batch] each."""

    def __init__(self, config: FmDecoderConfig) -> None:
        super().__init__()
        dim = config.time_dim
        self.frequencies = _TIME_PERIOD ** -(torch.arange(dim // 2) / (dim // 2))  # stays fp32
        self.guidance = _linear(dim, dim, bias=False)
        self.mix = nn.Sequential(_linear(dim, 2 * dim), _SwooshR(), _linear(2 * dim, dim))

    def _waves(self, x: Tensor) -> Tensor:
        angles = x[:, None] * self.frequencies
        return torch.cat([angles.cos(), angles.sin()], dim=-1)

    def forward(self, t: Tensor, guidance_scale: Tensor) -> Tensor:
        return self.mix(self._waves(t) + self.guidance(self._waves(guidance_scale)))


class FmDecoder(nn.Module):
    """x, text_condition, speech_condition [1, frames, n_mels], t, guidance_scale [1],
    padding_mask [1, frames], 1.0 where nothing is spoken -> v [1, frames, n_mels]."""

    def __init__(self, config: FmDecoderConfig | None = None) -> None:
        super().__init__()
        config = config or FmDecoderConfig()
        self.time_embedding = _TimeEmbedding(config)
        self.in_proj = _linear(3 * config.n_mels, config.dim)
        self.stacks = nn.ModuleList(
            _Stack(config, *sizes)
            for sizes in zip(config.downsampling, config.n_layers, config.conv_kernels, strict=True)
        )
        self.out_proj = _linear(config.dim, config.n_mels)

    def forward(
        self,
        x: Tensor,
        text_condition: Tensor,
        speech_condition: Tensor,
        t: Tensor,
        guidance_scale: Tensor,
        padding_mask: Tensor,
    ) -> Tensor:
        padding = padding_mask > 0.5
        time = self.time_embedding(t, guidance_scale)
        x = torch.cat([x, text_condition, speech_condition], dim=-1).permute(1, 0, 2)
        x = self.in_proj(x)
        for stack in self.stacks:
            x = stack(x, time, padding)
        return self.out_proj(x).permute(1, 0, 2)


def _linear(n_in: int, n_out: int, gain: float = 1.0, *, bias: bool = True) -> nn.Linear:
    """Weights that give ``gain`` times the deviation of the input."""
    linear = nn.Linear(n_in, n_out, bias=bias)
    nn.init.normal_(linear.weight, std=gain * n_in**-0.5)
    if linear.bias is not None:
        nn.init.normal_(linear.bias, std=0.02)
    return linear
