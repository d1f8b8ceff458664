"""TextEncoder and FmDecoder of the embedded voice, with exactly the LuxTTS tensors.

The host spreads the encoder's rows evenly over the frames. FmDecoder first undoes that: it picks
one row per token, finds where the prompt's tokens end, scales the predicted durations of the
remaining tokens to the frames that are to be generated and lays the rows out anew. No operation
depends on the frame count being constant, and frames outside the generated part never reach a
valid one, so every bucket length gives the same result.

Rows of token_embeds: [0:96] embedding, [96] duration in frames, [97] token count S,
[98] 1.0 where a text may begin (a sound right after sentence punctuation), [99] 1.0 at punctuation.
"""

import math
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from .tokens import STARTS_TEXT_AFTER, VOCABULARY_SIZE, is_sound, is_timed

N_MELS = 100
MAX_TOKENS = 256
EMBEDDING = 96
DURATION, COUNT, BOUNDARY, PAUSE = 96, 97, 98, 99
STEP_FRAMES = 2
FLOW_TIMES = (0.0, 1 / 7, 1 / 3, 0.6)
GUIDANCE = 3.0
# Frames of silence that stay at the end of a text, however few there are.
SHORTEST_TAIL = 3.0
# Costs of a split of the tokens, beside the |log speed| that it implies: a speed that is no
# multiple of 0.05, and a place where no text can begin.
SPEED_STEP = 0.05
UNUSUAL_SPEED = 0.3
NEVER = 1e3


class ConvBlock(nn.Module):
    """Depthwise convolution and a two-layer perceptron per step, [batch, steps, width]."""

    def __init__(self, width: int, expansion: int, kernel: int, dilation: int, condition: int = 0):
        super().__init__()
        self.depthwise = nn.Conv1d(
            width, width, kernel, padding=kernel // 2 * dilation, dilation=dilation, groups=width
        )
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width * expansion)
        self.down = nn.Linear(width * expansion, width)
        self.film = nn.Linear(condition, 2 * width) if condition else None
        nn.init.normal_(self.down.weight, std=0.02)
        nn.init.zeros_(self.down.bias)
        if self.film is not None:
            nn.init.zeros_(self.film.weight)
            nn.init.zeros_(self.film.bias)

    def forward(self, x: Tensor, mask: Tensor, condition: Tensor | None = None) -> Tensor:
        y = self.depthwise((x * mask).transpose(1, 2)).transpose(1, 2)
        y = self.norm(y)
        if self.film is not None and condition is not None:
            scale, shift = self.film(condition).unsqueeze(1).chunk(2, dim=-1)
            y = y * (1 + scale) + shift
        # A squared ReLU: a GELU alone would cost a sixth of the training step.
        return x + self.down(torch.square(functional.relu(self.up(y))))


class TextEncoder(nn.Module):
    """tokens, padding_mask (1.0 = padding) [1, 256] -> token_embeds [1, 256, 100]."""

    DILATIONS = (1, 1, 2, 4, 1)

    def __init__(self, width: int = 192, expansion: int = 3):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY_SIZE, width)
        self.blocks = nn.ModuleList(
            ConvBlock(width, expansion, 7, dilation) for dilation in self.DILATIONS
        )
        self.norm = nn.LayerNorm(width)
        self.to_embedding = nn.Linear(width, EMBEDDING)
        self.to_log_duration = nn.Linear(width, 1)
        nn.init.constant_(self.to_log_duration.bias, math.log(6.0))
        ids = range(VOCABULARY_SIZE)
        self.register_buffer("timed", torch.tensor([float(is_timed(i)) for i in ids]))
        self.register_buffer("sound", torch.tensor([float(is_sound(i)) for i in ids]))
        self.register_buffer("ends", torch.tensor([float(i in STARTS_TEXT_AFTER) for i in ids]))

    def encode(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """tokens [batch, n], mask [batch, n, 1] -> embedding [batch, n, 96], frames [batch, n]."""
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x)
        log_duration = self.to_log_duration(x).squeeze(-1).float().clamp(-4.0, 5.0)
        frames = torch.exp(log_duration) * self.timed[tokens] * mask.squeeze(-1)
        return self.to_embedding(x) * mask, frames

    def forward(self, tokens: Tensor, padding_mask: Tensor) -> Tensor:
        valid = 1.0 - padding_mask
        embedding, frames = self.encode(tokens, valid.unsqueeze(-1))
        count = valid.sum(dim=1, keepdim=True) * torch.ones_like(valid)
        after_end = functional.pad(self.ends[tokens][:, :-1], (1, 0))
        boundary = after_end * self.sound[tokens] * valid
        pause = self.ends[tokens] * valid
        channels = torch.stack([frames, count, boundary, pause], dim=-1)
        return torch.cat([embedding.float(), channels], dim=-1)


class SpeakerEncoder(nn.Module):
    """Pairs of prompt mel frames [batch, steps, 200] -> speaker vector [batch, size]."""

    def __init__(self, width: int = 128, size: int = 128):
        super().__init__()
        self.enter = nn.Linear(STEP_FRAMES * N_MELS, width)
        self.block = ConvBlock(width, 2, 5, 1)
        self.norm = nn.LayerNorm(width)
        self.leave = nn.Sequential(nn.Linear(2 * width, 256), nn.GELU("tanh"), nn.Linear(256, size))

    def forward(self, pairs: Tensor, mask: Tensor) -> Tensor:
        x = self.norm(self.block(functional.gelu(self.enter(pairs), approximate="tanh"), mask))
        x = x.float()
        count = mask.sum(dim=1).clamp(min=1.0)
        mean = (x * mask).sum(dim=1) / count
        spread = torch.sqrt((((x - mean.unsqueeze(1)) * mask) ** 2).sum(dim=1) / count + 1e-5)
        return self.leave(torch.cat([mean, spread], dim=-1))


class FmDecoder(nn.Module):
    """The velocity field; all tensors [1, T, 100] but t, guidance_scale [1], padding_mask [1, T].

    The network predicts the finished mel x1 and returns (x1 - x) / (1 - t). It was trained at
    guidance 3 alone; other values are accepted, but what they do is not defined.
    """

    DILATIONS = (1, 2, 1, 4, 1, 2, 1, 1)
    LAYOUT_FEATURES = 5

    def __init__(
        self, width: int = 208, expansion: int = 3, speaker: int = 128, condition: int = 96
    ):
        super().__init__()
        self.speaker = SpeakerEncoder(size=speaker)
        self.condition = nn.Sequential(
            nn.Linear(speaker + 4, 128), nn.GELU("tanh"), nn.Linear(128, condition)
        )
        entering = STEP_FRAMES * (N_MELS + EMBEDDING + self.LAYOUT_FEATURES)
        self.enter = nn.Linear(entering, width)
        self.blocks = nn.ModuleList(
            ConvBlock(width, expansion, 7, dilation, condition=condition)
            for dilation in self.DILATIONS
        )
        self.norm = nn.LayerNorm(width)
        self.leave = nn.Linear(width, STEP_FRAMES * N_MELS)
        self.register_buffer("mel_mean", torch.zeros(N_MELS))
        self.register_buffer("mel_std", torch.ones(N_MELS))

    def forward(
        self,
        x: Tensor,
        text_condition: Tensor,
        speech_condition: Tensor,
        t: Tensor,
        guidance_scale: Tensor,
        padding_mask: Tensor,
    ) -> Tensor:
        active = 1.0 - padding_mask
        prompt = (speech_condition.abs().sum(dim=-1) > 1e-6).float() * active
        generated = active - prompt
        rows, first = undo_expansion(text_condition, prompt, active)
        embedding, layout = lay_out(
            rows[..., :EMBEDDING],
            scaled_durations(rows, first, generated.sum(dim=1, keepdim=True)),
            frame_positions(prompt, active),
        )
        speaker = self.encode_speaker(speech_condition, prompt)
        mel = self.estimate(x, embedding, layout, speaker, t, guidance_scale, generated)
        velocity = (mel - x) / (1.0 - t.reshape(-1, 1, 1))
        return velocity * generated.unsqueeze(-1)

    def encode_speaker(self, mel: Tensor, mask: Tensor) -> Tensor:
        """Scaled prompt mel [batch, T, 100] and its frame mask [batch, T] -> [batch, size]."""
        normalised = (mel - self.mel_mean) / self.mel_std * mask.unsqueeze(-1)
        return self.speaker(_pairs(normalised), _pairs(mask.unsqueeze(-1)).amin(-1, keepdim=True))

    def estimate(
        self,
        x: Tensor,
        embedding: Tensor,
        layout: Tensor,
        speaker: Tensor,
        t: Tensor,
        guidance_scale: Tensor,
        generated: Tensor,
    ) -> Tensor:
        """Finished scaled mel [batch, T, 100] from the noisy one; T is even."""
        time = torch.stack([t, t * t, torch.sqrt(t), guidance_scale / GUIDANCE - 1.0], dim=-1)
        condition = self.condition(torch.cat([speaker, time], dim=-1))
        frames = torch.cat([x, embedding, layout], dim=-1) * generated.unsqueeze(-1)
        mask = _pairs(generated.unsqueeze(-1)).amax(-1, keepdim=True)
        y = self.enter(_pairs(frames))
        for block in self.blocks:
            y = block(y, mask, condition)
        out = self.leave(self.norm(y)).float().reshape(int(x.shape[0]), -1, N_MELS)
        return out * self.mel_std + self.mel_mean


def _pairs(frames: Tensor) -> Tensor:
    """[batch, T, c] -> [batch, T / 2, 2 c]."""
    batch, channels = int(frames.shape[0]), int(frames.shape[2])
    return frames.reshape(batch, -1, STEP_FRAMES * channels)


def frame_positions(prompt: Tensor, active: Tensor) -> Tensor:
    """Position of each frame relative to the first generated one [batch, T]."""
    index = torch.cumsum(torch.ones_like(active), dim=1) - 1.0
    return index - prompt.sum(dim=1, keepdim=True)


def undo_expansion(text_condition: Tensor, prompt: Tensor, active: Tensor) -> tuple[Tensor, Tensor]:
    """Frame rows -> token rows [batch, 256, 100] and the text's first token [batch, 1].

    The host gives token i the frames from i * (L // S) on. Every token that may begin the text
    stands for a speed, since the host generates ceil(P / prompt tokens * text tokens / speed)
    frames. The one is taken whose speed is nearest to 1, and a round one if others are not.
    """
    frames = active.sum(dim=1, keepdim=True)
    prompt_frames = prompt.sum(dim=1, keepdim=True)
    count = text_condition[:, 0, COUNT : COUNT + 1]
    per_token = torch.floor((frames + 0.5) / count)
    token = torch.cumsum(torch.ones_like(text_condition[:, :1, :1]).expand(-1, MAX_TOKENS, 1), 1)
    token = token.squeeze(-1) - 1.0
    frame = torch.cumsum(torch.ones_like(active), dim=1) - 1.0
    source = (token * per_token).unsqueeze(-1)
    pick = ((frame.unsqueeze(1) - source).abs() < 0.5).float()
    rows = torch.matmul(pick, text_condition) * (token < count).float().unsqueeze(-1)

    # If the text began at `token`, the host would have been asked for a speed in [slower, faster).
    generated = (frames - prompt_frames).clamp(min=2.0)
    slower = prompt_frames * (count - token).clamp(min=0.5) / (token.clamp(min=0.5) * generated)
    faster = slower * generated / (generated - 1.0)
    grid = 1.0 / SPEED_STEP
    usual = (torch.floor(faster * grid * 1.00001) >= slower * grid * 0.99999).float()
    inside = (token > 0.5).float() * (token < count - 0.5).float()
    misfit = torch.log(slower.clamp(min=1e-3)).abs() + UNUSUAL_SPEED * (1.0 - usual)
    misfit = misfit + NEVER * (1.0 - rows[..., BOUNDARY]) + 100.0 * NEVER * (1.0 - inside)
    best = (misfit <= misfit.amin(dim=1, keepdim=True)).float()
    return rows, (best * token).amax(dim=1, keepdim=True)


def scaled_durations(rows: Tensor, first: Tensor, generated: Tensor) -> Tensor:
    """Predicted frames of the text's tokens, made to sum to `generated` [batch, 256].

    Where frames are short, the silence after the last word goes first: without that, a single word
    would have to share its few frames with a pause. All tokens are scaled to what is left.
    """
    token = torch.cumsum(torch.ones_like(rows[..., DURATION]), dim=1) - 1.0
    frames = rows[..., DURATION] * (token > first - 0.5).float()
    short = (frames.sum(dim=1, keepdim=True) - generated).clamp(min=0.0)
    last = rows[..., PAUSE] * (token > rows[:, :1, COUNT] - 1.5).float()
    spare = last * (frames - SHORTEST_TAIL).clamp(min=0.0)
    frames = frames - torch.minimum(spare, short)
    return frames * (generated / frames.sum(dim=1, keepdim=True).clamp(min=1e-3))


def lay_out(embedding: Tensor, durations: Tensor, position: Tensor) -> tuple[Tensor, Tensor]:
    """Token rows [batch, n, 96] and frames [batch, n] -> one row per frame and where it lies.

    position [batch, T]: frames since the first generated one. The layout features are the place
    inside the token (0..1 and its distance to the middle), log duration, and the clipped distances
    to the beginning and the end of the token.
    """
    ends = torch.cumsum(durations, dim=1)
    starts = ends - durations
    at = (position + 0.01).unsqueeze(-1)
    hit = (at >= starts.unsqueeze(1)).float() * (at < ends.unsqueeze(1)).float()
    span = torch.matmul(hit, torch.stack([starts, durations], dim=-1))
    start, length = span[..., :1], span[..., 1:]
    since = at - start
    place = since / length.clamp(min=0.1)
    layout = torch.cat(
        [
            place,
            (2.0 * place - 1.0).abs(),
            torch.log(length.clamp(min=0.1)),
            since.clamp(-8.0, 8.0) / 4.0,
            (length - since).clamp(-8.0, 8.0) / 4.0,
        ],
        dim=-1,
    )
    return torch.matmul(hit, embedding), layout


class AcousticModel(nn.Module):
    """Both networks, as one checkpoint holds them."""

    def __init__(self) -> None:
        super().__init__()
        self.text_encoder = TextEncoder()
        self.fm_decoder = FmDecoder()


def load(path: str | Path) -> AcousticModel:
    """A checkpoint written by train_acoustic, in fp32, ready to evaluate or export."""
    model = AcousticModel()
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True)["model"])
    return model.eval()
