"""CosyVoice3's language model: Qwen2-0.5B with a head for speech tokens, as its two exports."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_MASKED = -1e4  # finite in fp16
_INIT_STD = 0.02
_SCORE_STD = 0.05  # of queries' and keys' weights: attention that tells rows apart
_HEAD_STD = 0.08  # logits of deviation 2.4: the likeliest token has a share near 0.1


@dataclass(frozen=True)
class LanguageModelConfig:
    """Qwen2-0.5B and the exports' sizes."""

    n_layers: int = 24
    dim: int = 896
    n_heads: int = 14
    n_kv_heads: int = 2
    head_dim: int = 64
    mlp_dim: int = 4864
    vocab: int = 6761
    first_stop_id: int = 6561
    prefill_rows: int = 256
    kv_rows: int = 768
    norm_eps: float = 1e-6
    rope_theta: float = 1e6


class _RmsNorm(nn.Module):
    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(config.dim))
        self.eps = config.norm_eps

    def forward(self, x: Tensor) -> Tensor:
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + self.eps))


class _Rotary(nn.Module):
    """Cosines and sines [rows, head_dim] of the positions [rows]."""

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        powers = torch.arange(0, config.head_dim, 2) / config.head_dim
        self.inverse_frequencies = config.rope_theta**-powers  # no buffer: stays fp32

    def forward(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = positions[:, None] * self.inverse_frequencies[None]
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos(), angles.sin()


def _rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat([-second, first], dim=-1) * sine


def _repeat_heads(x: Tensor, times: int) -> Tensor:
    """[1, heads, rows, channels] with each head ``times`` times."""
    return x[:, :, None].expand(-1, -1, times, -1, -1).flatten(1, 2)


class _Attention(nn.Module):
    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.config = config
        query, kv = config.n_heads * config.head_dim, config.n_kv_heads * config.head_dim
        self.q_proj = _linear(config.dim, query, _SCORE_STD, bias=True)
        self.k_proj = _linear(config.dim, kv, _SCORE_STD, bias=True)
        self.v_proj = _linear(config.dim, kv, bias=True)
        self.o_proj = _linear(query, config.dim)

    def heads(self, x: Tensor, cosine: Tensor, sine: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values [1, heads, rows, head_dim] of ``x`` [1, rows, dim]."""
        split = (-1, self.config.head_dim)
        query = self.q_proj(x).unflatten(-1, split).transpose(1, 2)
        key = self.k_proj(x).unflatten(-1, split).transpose(1, 2)
        value = self.v_proj(x).unflatten(-1, split).transpose(1, 2)
        return _rotate(query, cosine, sine), _rotate(key, cosine, sine), value

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        times = self.config.n_heads // self.config.n_kv_heads
        key, value = _repeat_heads(key, times), _repeat_heads(value, times)
        scores = torch.matmul(query, key.transpose(2, 3)) * self.config.head_dim**-0.5 + mask
        mixed = torch.matmul(F.softmax(scores, dim=-1), value).transpose(1, 2).contiguous()
        return self.o_proj(mixed.flatten(2))


class _Layer(nn.Module):
    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.attention = _Attention(config)
        self.attention_norm = _RmsNorm(config)
        self.mlp_norm = _RmsNorm(config)
        self.gate_proj = _linear(config.dim, config.mlp_dim)
        self.up_proj = _linear(config.dim, config.mlp_dim)
        self.down_proj = _linear(config.mlp_dim, config.dim)

    def mlp(self, x: Tensor) -> Tensor:
        x = self.mlp_norm(x)
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LanguageModel(nn.Module):
    """The weights. The rows of the head that end the speech are zero, so that it runs on."""

    def __init__(self, config: LanguageModelConfig | None = None) -> None:
        super().__init__()
        self.config = config or LanguageModelConfig()
        self.rotary = _Rotary(self.config)
        self.layers = nn.ModuleList(_Layer(self.config) for _ in range(self.config.n_layers))
        self.norm = _RmsNorm(self.config)
        self.head = _linear(self.config.dim, self.config.vocab, _HEAD_STD)
        self.head.weight.data[self.config.first_stop_id :] = 0


class Prefill(nn.Module):
    """inputs_embeds [1, prefill_rows, dim], input_len [1] -> speech_logits, kv_k, kv_v."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs_embeds: Tensor, input_len: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        config = self.model.config
        rows = torch.arange(config.prefill_rows)
        cosine, sine = self.model.rotary(rows.float())
        real = rows < input_len
        mask = torch.where((rows <= rows[:, None]) & real[None], 0.0, _MASKED)[None, None]
        keep = real.float()[None, None, :, None]
        x, keys, values = inputs_embeds, [], []
        for layer in self.model.layers:
            query, key, value = layer.attention.heads(layer.attention_norm(x), cosine, sine)
            x = x + layer.attention.attend(query, key, value, mask)
            x = x + layer.mlp(x)
            keys.append(key * keep)
            values.append(value * keep)
        tail = (0, 0, 0, config.kv_rows - config.prefill_rows)
        logits = self.model.head(self.model.norm(x))
        return logits, F.pad(torch.stack(keys), tail), F.pad(torch.stack(values), tail)


class Decode(nn.Module):
    """inputs_embeds [1, 1, dim], cur_len [1], kv_k, kv_v -> speech_logits, kv_k_out, kv_v_out.

    The caches are [layers, 1, kv_heads, kv_rows, head_dim]; the new row is number ``cur_len``.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, inputs_embeds: Tensor, cur_len: Tensor, kv_k: Tensor, kv_v: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        rows = torch.arange(self.model.config.kv_rows)
        cosine, sine = self.model.rotary(cur_len.float())
        mask = torch.where(rows <= cur_len, 0.0, _MASKED)[None, None, None]
        here = (rows == cur_len)[None, None, :, None]
        x, keys, values = inputs_embeds, [], []
        for index, layer in enumerate(self.model.layers):
            query, key, value = layer.attention.heads(layer.attention_norm(x), cosine, sine)
            key = torch.where(here, key, kv_k[index])
            value = torch.where(here, value, kv_v[index])
            x = x + layer.attention.attend(query, key, value, mask)
            x = x + layer.mlp(x)
            keys.append(key)
            values.append(value)
        return self.model.head(self.model.norm(x)), torch.stack(keys), torch.stack(values)


def _linear(n_in: int, n_out: int, std: float = _INIT_STD, *, bias: bool = False) -> nn.Linear:
    linear = nn.Linear(n_in, n_out, bias=bias)
    nn.init.normal_(linear.weight, std=std)
    if linear.bias is not None:
        nn.init.normal_(linear.bias, std=std)
    return linear
