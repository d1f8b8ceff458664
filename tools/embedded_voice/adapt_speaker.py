"""Teaches the speaker encoder to see past the bandwidth, equalisation and noise of a prompt.

    python -m tools.embedded_voice.adapt_speaker --data DIR --start acoustic.pt --out voice.pt

The teachers' recordings are all clean and full band, so the trained encoder took a missing top band
(any 16 kHz recording) for a voice of its own. Here a copy learns to give for a spoilt prompt the
vector that the frozen encoder gives for the clean one; nothing else of the model changes.
"""

import argparse
import copy
from pathlib import Path

import numpy as np
import torch

from . import acoustic_model
from .dataset import FEAT_SCALE, N_MELS, PROMPT_FRAMES, Item, load_items

BATCH = 32
RATE = 1e-3
CLEAN_SHARE = 0.2
LOG_FLOOR = float(np.log(1e-7))


def spoil(log_mel: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Log mel [frames, 100] as another microphone, codec or room might have left it."""
    band = np.arange(N_MELS)
    spoilt = log_mel + rng.uniform(-0.5, 0.5)
    for ripple in range(4):
        size = rng.normal(0.0, 0.5 / (1 + ripple))
        spoilt = spoilt + size * np.cos(np.pi * ripple * band / N_MELS + rng.uniform(0, 6.3))
    if rng.random() < 0.3:
        spoilt = spoilt - 0.3 * np.maximum(rng.uniform(2, 12) - band, 0.0)
    if rng.random() < 0.8:
        beyond = np.maximum(band - rng.uniform(58, 98), 0.0)
        spoilt = spoilt - rng.uniform(0.5, 8.0) * beyond
    floor = rng.uniform(LOG_FLOOR, -3.0) if rng.random() < 0.7 else LOG_FLOOR
    noise = floor + 0.3 * rng.standard_normal(log_mel.shape)
    return np.maximum(np.logaddexp(spoilt, noise), LOG_FLOOR)


def draw(
    by_speaker: list[list[Item]], frames: int, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Clean and spoilt scaled prompts [BATCH, frames, 100], every speaker equally often."""
    clean, spoilt = [], []
    while len(clean) < BATCH:
        items = by_speaker[rng.integers(len(by_speaker))]
        mel = items[rng.integers(len(items))].mel.astype(np.float32)
        if len(mel) < frames:
            continue
        start = rng.integers(len(mel) - frames + 1)
        cut = mel[start : start + frames]
        clean.append(cut)
        same = rng.random() < CLEAN_SHARE
        spoilt.append(cut if same else FEAT_SCALE * spoil(cut / FEAT_SCALE, rng))
    return tuple(torch.from_numpy(np.stack(x).astype(np.float32)) for x in (clean, spoilt))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=3000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(11)
    rng = np.random.default_rng(11)
    speakers: dict[str, list[Item]] = {}
    for item in load_items(options.data):
        if not item.valid:
            speakers.setdefault(item.speaker, []).append(item)
    by_speaker = list(speakers.values())
    model = acoustic_model.load(options.start)
    decoder = model.fm_decoder
    frozen = copy.deepcopy(decoder)
    optimiser = torch.optim.AdamW(decoder.speaker.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, options.steps, RATE / 50)
    spread, total = None, 0.0
    for step in range(1, options.steps + 1):
        frames = 2 * int(rng.integers(PROMPT_FRAMES[0] // 2, 130))
        clean, spoilt = draw(by_speaker, frames, rng)
        mask = torch.ones(clean.shape[:2])
        with torch.no_grad():
            wanted = frozen.encode_speaker(clean, mask)
        if spread is None:
            spread = wanted.std(dim=0) + 1e-3
        loss = (((decoder.encode_speaker(spoilt, mask) - wanted) / spread) ** 2).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        schedule.step()
        total += loss.item()
        if step % 100 == 0:
            print(f"{step} unexplained variance {total / 100:.3f}", flush=True)
            total = 0.0
    torch.save({"model": model.state_dict()}, options.out)


if __name__ == "__main__":
    main()
