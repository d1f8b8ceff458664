"""Mel features of the recorded corpus and the batches that the acoustic model trains on."""

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import torch
from torch import Tensor

from .synthesize import read_manifest
from .teachers import HOP_LENGTH, SAMPLE_RATE
from .tokens import encode

N_FFT = 1024
N_MELS = 100
LOG_FLOOR = 1e-7
FEAT_SCALE = 0.1
DITHER = 1e-4
# The encoder sees this far back into a prompt's tokens (27) at the first token of the text.
PROMPT_TOKENS = 32
PROMPT_FRAMES = (140, 380)


def mel_filters() -> np.ndarray:
    """HTK mel triangles without area normalisation over 0..12 kHz [513, 100]."""

    def to_mel(hertz: np.ndarray) -> np.ndarray:
        return 2595.0 * np.log10(1.0 + hertz / 700.0)

    top = to_mel(np.asarray(SAMPLE_RATE / 2))
    edges = 700.0 * (10.0 ** (np.linspace(0.0, top, N_MELS + 2) / 2595.0) - 1.0)
    bins = np.linspace(0.0, SAMPLE_RATE / 2, N_FFT // 2 + 1)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.maximum(0.0, np.minimum(rising, falling)).astype(np.float32)


def log_mel(samples: np.ndarray) -> np.ndarray:
    """VocosFbank log mel [frames, 100] of mono 24 kHz samples, frames = (n + 128) // 256."""
    frames = (len(samples) + HOP_LENGTH // 2) // HOP_LENGTH
    padded = np.pad(samples.astype(np.float32), N_FFT // 2, mode="reflect")
    padded = np.pad(padded, (0, max((frames - 1) * HOP_LENGTH + N_FFT - len(padded), 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP_LENGTH][:frames]
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)).astype(np.float32)
    magnitude = np.abs(np.fft.rfft(view * window, axis=1)).astype(np.float32)
    return np.log(np.maximum(magnitude @ mel_filters(), LOG_FLOOR))


@dataclass(frozen=True)
class Item:
    """One utterance: scaled mel [frames, 100] float16, token ids and frames per token."""

    speaker: str
    mel: np.ndarray
    tokens: np.ndarray
    durations: np.ndarray
    valid: bool


def load_items(data: Path) -> list[Item]:
    """Every utterance of the manifest; features are cached per speaker beside the recordings."""
    by_speaker: dict[str, list[dict]] = defaultdict(list)
    for line in read_manifest(data):
        by_speaker[line["speaker"]].append(line)
    return [
        item
        for speaker, lines in sorted(by_speaker.items())
        for item in _items(data, speaker, lines)
    ]


def _items(data: Path, speaker: str, lines: list[dict]) -> Iterator[Item]:
    cache = data / f"{speaker}.mel.npz"
    known: dict[str, np.ndarray] = {}
    if cache.exists():
        with np.load(cache) as stored:
            known = {name: stored[name] for name in stored.files}
    if any(line["wav"] not in known for line in lines):
        noise = np.random.default_rng(0)
        for line in lines:
            if line["wav"] not in known:
                samples, _ = soundfile.read(data / line["wav"], dtype="float32")
                samples = samples + noise.normal(0, DITHER, len(samples)).astype(np.float32)
                known[line["wav"]] = (log_mel(samples) * FEAT_SCALE).astype(np.float16)
        np.savez(cache, **known)
    for line in lines:
        yield Item(
            speaker,
            known[line["wav"]],
            np.asarray(encode(line["phonemes"]), np.int64),
            np.asarray(line["durations"], np.float32),
            line["split"] == "valid",
        )


@dataclass(frozen=True)
class Batch:
    """Padded tensors; the prompt's last tokens stand before the text's in `tokens`."""

    tokens: Tensor
    token_mask: Tensor
    text_mask: Tensor
    durations: Tensor
    mel: Tensor
    generated: Tensor
    position: Tensor
    prompt: Tensor
    prompt_mask: Tensor
    speaker: list[str]


class Batches:
    """Endless batches of utterances of similar length, `frames` mel frames each."""

    def __init__(self, items: list[Item], frames: int, weights: dict[str, float], seed: int):
        self._items = items
        self._frames = frames
        self._rng = random.Random(seed)
        self._by_speaker: dict[str, list[Item]] = defaultdict(list)
        for item in items:
            self._by_speaker[item.speaker].append(item)
        self._weights = weights

    def __iter__(self) -> Iterator[Batch]:
        while True:
            yield from self._epoch()

    def _epoch(self) -> Iterator[Batch]:
        chosen: list[Item] = []
        for speaker, items in sorted(self._by_speaker.items()):
            share = self._weights.get(speaker, 1.0) * len(items)
            count = int(share) + (self._rng.random() < share % 1.0)
            chosen += (
                self._rng.choices(items, k=count)
                if share > len(items)
                else (self._rng.sample(items, count))
            )
        chosen.sort(key=lambda item: len(item.mel) + self._rng.uniform(-12, 12))
        groups: list[list[Item]] = [[]]
        for item in chosen:
            if groups[-1] and (len(groups[-1]) + 1) * (len(item.mel) + 2) > self._frames:
                groups.append([])
            groups[-1].append(item)
        self._rng.shuffle(groups)
        for group in groups:
            yield self._batch(group)

    def _batch(self, group: list[Item]) -> Batch:
        rng = self._rng
        prompts = [rng.choice(self._by_speaker[item.speaker]) for item in group]
        tails = [prompt.tokens[-rng.randint(8, PROMPT_TOKENS) :] for prompt in prompts]
        longest = max(len(t) + len(item.tokens) for t, item in zip(tails, group, strict=True))
        # With an odd lead a pair of frames straddles the end of the prompt, as it often does.
        leads = [rng.randint(0, 1) for _ in group]
        frames = max(len(item.mel) + lead for lead, item in zip(leads, group, strict=True))
        frames += frames % 2
        cuts = [self._prompt_cut(prompt) for prompt in prompts]
        prompt_frames = max(len(cut) for cut in cuts)
        prompt_frames += prompt_frames % 2
        size = len(group)
        tokens = np.zeros((size, longest), np.int64)
        token_mask = np.zeros((size, longest), np.float32)
        text_mask = np.zeros((size, longest), np.float32)
        durations = np.zeros((size, longest), np.float32)
        mel = np.zeros((size, frames, N_MELS), np.float32)
        generated = np.zeros((size, frames), np.float32)
        position = np.zeros((size, frames), np.float32)
        prompt_mel = np.zeros((size, prompt_frames, N_MELS), np.float32)
        prompt_mask = np.zeros((size, prompt_frames), np.float32)
        for row, (item, tail, lead, cut) in enumerate(zip(group, tails, leads, cuts, strict=True)):
            start, stop = len(tail), len(tail) + len(item.tokens)
            tokens[row, :start], tokens[row, start:stop] = tail, item.tokens
            token_mask[row, :stop] = 1.0
            text_mask[row, start:stop] = 1.0
            durations[row, start:stop] = item.durations
            louder = FEAT_SCALE * np.log(rng.uniform(0.9, 1.5))
            mel[row, lead : lead + len(item.mel)] = item.mel.astype(np.float32) + louder
            generated[row, lead : lead + len(item.mel)] = 1.0
            position[row] = np.arange(frames) - lead
            prompt_mel[row, : len(cut)] = cut.astype(np.float32) + louder
            prompt_mask[row, : len(cut)] = 1.0
        arrays = (
            tokens,
            token_mask,
            text_mask,
            durations,
            mel,
            generated,
            position,
            prompt_mel,
            prompt_mask,
        )
        return Batch(*map(torch.from_numpy, arrays), [item.speaker for item in group])

    def _prompt_cut(self, item: Item) -> np.ndarray:
        length = min(self._rng.randint(*PROMPT_FRAMES), len(item.mel))
        start = self._rng.randint(0, len(item.mel) - length)
        return item.mel[start : start + length]
