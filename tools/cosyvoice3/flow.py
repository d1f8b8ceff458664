"""CosyVoice3's flow: flow matching from noise to mel frames, its Euler loop unrolled."""

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_NORM_EPS = 1e-6
_TIME_SCALE = 1000.0


@dataclass(frozen=True)
class FlowConfig:
    """The published sizes."""

    vocab: int = 6561
    n_tokens: int = 250
    token_mel_ratio: int = 2
    n_mels: int = 80
    speaker_dim: int = 192
    lookahead_tokens: int = 3
    lookahead_channels: int = 1024
    n_layers: int = 22
    dim: int = 1024
    n_heads: int = 16
    ff_mult: int = 2
    time_dim: int = 256
    position_kernel: int = 31
    position_groups: int = 16
    num_steps: int = 10
    guidance_scale: float = 0.7

    @property
    def head_dim(self) -> int:
        return self.dim // self.n_heads

    @property
    def frames(self) -> int:
        return self.n_tokens * self.token_mel_ratio


class _Lookahead(nn.Module):
    """Mixes each token [1, tokens, n_mels] with the few after it."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        kernel = config.lookahead_tokens + 1
        self.ahead = nn.Conv1d(config.n_mels, config.lookahead_channels, kernel)
        self.behind = nn.Conv1d(config.lookahead_channels, config.n_mels, 3)

    def forward(self, x: Tensor) -> Tensor:
        mixed = F.pad(x.transpose(1, 2), (0, self.ahead.kernel_size[0] - 1))
        mixed = F.pad(F.leaky_relu(self.ahead(mixed)), (2, 0))
        return self.behind(mixed).transpose(1, 2) + x


class _TimeEmbedding(nn.Module):
    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        half = config.time_dim // 2
        self.frequencies = torch.exp(torch.arange(half) * (-math.log(10_000) / (half - 1)))
        self.mlp = nn.Sequential(
            nn.Linear(config.time_dim, config.dim), nn.SiLU(), nn.Linear(config.dim, config.dim)
        )

    def forward(self, t: Tensor) -> Tensor:
        angles = _TIME_SCALE * t[:, None] * self.frequencies
        return self.mlp(torch.cat([angles.sin(), angles.cos()], dim=-1))


class _InputEmbedding(nn.Module):
    """Noisy frames, prompt frames, tokens and speaker as rows of ``dim``, with their places."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        self.proj = nn.Linear(4 * config.n_mels, config.dim)
        self.convs = nn.ModuleList(
            nn.Conv1d(config.dim, config.dim, config.position_kernel, groups=config.position_groups)
            for _ in range(2)
        )

    def forward(self, x: Tensor, condition: Tensor, mu: Tensor, speaker: Tensor) -> Tensor:
        rows = self.proj(torch.cat([x, condition, mu, speaker], dim=-1))
        places = rows.transpose(1, 2)
        for conv in self.convs:
            places = F.mish(conv(F.pad(places, (conv.kernel_size[0] - 1, 0))))
        return places.transpose(1, 2) + rows


class _Block(nn.Module):
    """Attention and MLP, each shifted, scaled and gated by the time."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        dim = config.dim
        self.split = (config.n_heads, config.head_dim)
        self.modulation = nn.Linear(dim, 6 * dim)
        self.norm = nn.LayerNorm(dim, _NORM_EPS, elementwise_affine=False)
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(dim, dim) for _ in range(4))
        self.mlp = nn.Sequential(
            nn.Linear(dim, config.ff_mult * dim),
            nn.GELU(approximate="tanh"),
            nn.Linear(config.ff_mult * dim, dim),
        )

    def forward(self, x: Tensor, time: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
        changes = self.modulation(F.silu(time))[:, None].chunk(6, dim=-1)
        shift, scale, gate, mlp_shift, mlp_scale, mlp_gate = changes
        x = x + gate * self._attend(self.norm(x) * (1 + scale) + shift, rotary)
        return x + mlp_gate * self.mlp(self.norm(x) * (1 + mlp_scale) + mlp_shift)

    def _attend(self, x: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
        query, key = (_rotate(product(x), *rotary) for product in (self.to_q, self.to_k))
        query, key, value = (
            rows.unflatten(-1, self.split).transpose(1, 2) for rows in (query, key, self.to_v(x))
        )
        mixed = F.scaled_dot_product_attention(query, key, value)
        return self.to_out(mixed.transpose(1, 2).flatten(2))


class _Estimator(nn.Module):
    """The velocity [2, frames, n_mels]: a diffusion transformer."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        self.time = _TimeEmbedding(config)
        self.embed = _InputEmbedding(config)
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.n_layers))
        self.modulation = nn.Linear(config.dim, 2 * config.dim)
        self.norm = nn.LayerNorm(config.dim, _NORM_EPS, elementwise_affine=False)
        self.proj = nn.Linear(config.dim, config.n_mels)
        powers = torch.arange(0, config.head_dim, 2) / config.head_dim
        angles = torch.arange(config.frames)[:, None] * 10_000.0**-powers
        angles = angles.repeat_interleave(2, dim=-1)
        self.rotary = (angles.cos(), angles.sin())

    def forward(
        self, x: Tensor, t: Tensor, condition: Tensor, mu: Tensor, speaker: Tensor
    ) -> Tensor:
        time = self.time(t)
        x = self.embed(x, condition, mu, speaker)
        for block in self.blocks:
            x = block(x, time, self.rotary)
        scale, shift = self.modulation(F.silu(time))[:, None].chunk(2, dim=-1)
        return self.proj(self.norm(x) * (1 + scale) + shift)


class Flow(nn.Module):
    """token_total [1, n_tokens], num_prompt_tokens [1], prompt_feat [1, frames, n_mels],
    embedding [1, speaker_dim] -> mel [1, n_mels, frames], num_prompt_mel [1].

    The noise is fixed, so that a model speaks alike each time.
    """

    def __init__(self, config: FlowConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or FlowConfig()
        self.tokens = nn.Embedding(config.vocab, config.n_mels)
        self.lookahead = _Lookahead(config)
        self.speaker = nn.Linear(config.speaker_dim, config.n_mels)
        self.estimator = _Estimator(config)
        self.register_buffer("noise", torch.randn(1, config.n_mels, config.frames))

    def steps(self) -> list[tuple[Tensor, Tensor]]:
        """Time [1] and length [1] of each Euler step, from noise at 0 to mel frames at 1."""
        n = self.config.num_steps
        times = [1 - math.cos(math.pi / 2 * number / n) for number in range(n + 1)]
        return [(torch.tensor([t]), torch.tensor([after - t])) for t, after in pairwise(times)]

    def forward(self, *prompted: Tensor) -> tuple[Tensor, Tensor]:
        mel = self.noise
        guidance, num_prompt_mel = self.guidance(*prompted)
        for t, dt in self.steps():
            mel = self.step(mel, t, dt, guidance)
        return mel, num_prompt_mel

    def guidance(
        self,
        token_total: Tensor,
        num_prompt_tokens: Tensor,
        prompt_feat: Tensor,
        embedding: Tensor,
    ) -> tuple[list[Tensor], Tensor]:
        """Prompt frames, tokens and speaker [2, frames, n_mels], the second time zeros, and
        num_prompt_mel."""
        config = self.config
        num_prompt_mel = num_prompt_tokens * config.token_mel_ratio
        prompted = (torch.arange(config.frames) < num_prompt_mel).float()[None, :, None]
        mu = self.lookahead(self.tokens(token_total))
        mu = mu.repeat_interleave(config.token_mel_ratio, dim=1)
        speaker = self.speaker(F.normalize(embedding, dim=1))[:, None]
        speaker = speaker.expand(-1, config.frames, -1)
        given = (prompt_feat * prompted, mu, speaker)
        return [torch.cat([rows, torch.zeros_like(rows)]) for rows in given], num_prompt_mel

    def step(self, mel: Tensor, t: Tensor, dt: Tensor, guidance: list[Tensor]) -> Tensor:
        rows = mel.transpose(1, 2)
        velocity = self.estimator(torch.cat([rows, rows]), t.expand(2), *guidance)
        guided, free = velocity.chunk(2)
        scale = self.config.guidance_scale
        return (rows + dt * ((1 + scale) * guided - scale * free)).transpose(1, 2)


class FlowStep(nn.Module):
    """mel, t and dt of one Euler step, then what Flow takes -> mel, num_prompt_mel."""

    def __init__(self, flow: Flow) -> None:
        super().__init__()
        self.flow = flow

    def forward(
        self, mel: Tensor, t: Tensor, dt: Tensor, *prompted: Tensor
    ) -> tuple[Tensor, Tensor]:
        guidance, num_prompt_mel = self.flow.guidance(*prompted)
        return self.flow.step(mel, t, dt, guidance), num_prompt_mel


def _rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn the pairs of the first head's channels; as in F5-TTS the other heads have no places."""
    width = cosine.shape[-1]
    head, others = x[..., :width], x[..., width:]
    first, second = head.unflatten(-1, (-1, 2)).unbind(-1)
    turned = torch.stack([-second, first], dim=-1).flatten(-2)
    return torch.cat([head * cosine + turned * sine, others], dim=-1)
