"""Trains TextEncoder and FmDecoder on the recorded corpus (CPU, bfloat16 autocast).

python -m tools.embedded_voice.train_acoustic --data DIR --out DIR/acoustic.pt --steps 4000
"""

import argparse
import copy
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from .acoustic_model import FLOW_TIMES, GUIDANCE, AcousticModel, lay_out
from .dataset import Batch, Batches, Item, load_items

SEED = 7
BATCH_FRAMES = 4200
SPEAKER_WEIGHTS = {"heart": 0.7, "heart_f050_w084": 1.4, "joe": 1.0}
FLOW_TIME_SHARES = (0.2, 0.2, 0.25, 0.35)
EMA = 0.998
WARM_UP = 150
DURATION_WEIGHT = 0.3
SQUARE_WEIGHT = 0.25
LOG_EVERY = 25
SAVE_EVERY = 250


@dataclass
class Losses:
    mel: Tensor
    duration: Tensor

    @property
    def total(self) -> Tensor:
        return self.mel + DURATION_WEIGHT * self.duration


def conditions(model: AcousticModel, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Frame embedding, layout, speaker vector by the true timings, and the predicted frames."""
    embedding, predicted = model.text_encoder.encode(batch.tokens, batch.token_mask.unsqueeze(-1))
    with torch.autocast("cpu", enabled=False):
        frames, layout = lay_out(embedding.float(), batch.durations, batch.position)
    speaker = model.fm_decoder.encode_speaker(batch.prompt, batch.prompt_mask)
    return frames, layout, speaker, predicted


def losses(model: AcousticModel, batch: Batch, flow_time: Tensor, noise: Tensor) -> Losses:
    frames, layout, speaker, predicted = conditions(model, batch)
    decoder = model.fm_decoder
    t = flow_time.reshape(-1, 1, 1)
    noisy = (1 - t) * noise + t * batch.mel
    guidance = torch.full_like(flow_time, GUIDANCE)
    mel = decoder.estimate(noisy, frames, layout, speaker, flow_time, guidance, batch.generated)
    error = (mel - batch.mel) / decoder.mel_std
    weight = batch.generated.unsqueeze(-1) / (batch.generated.sum() * error.shape[-1])
    mel_loss = ((error.abs() + SQUARE_WEIGHT * error.square()) * weight).sum()
    timed = batch.text_mask * model.text_encoder.timed[batch.tokens]
    log_error = torch.log(predicted + 0.5) - torch.log(batch.durations + 0.5)
    return Losses(mel_loss, (log_error.abs() * timed).sum() / timed.sum())


def set_mel_statistics(model: AcousticModel, items: list[Item]) -> None:
    sample = np.concatenate(
        [item.mel.astype(np.float32) for item in items[:: len(items) // 500 + 1]]
    )
    model.fm_decoder.mel_mean.copy_(torch.from_numpy(sample.mean(axis=0)))
    model.fm_decoder.mel_std.copy_(torch.from_numpy(sample.std(axis=0)))


def optimizer_for(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), eps=1e-8)


def train(
    items: list[Item], out: Path, steps: int, rate: float, start: Path | None, seed: int
) -> None:
    torch.manual_seed(seed)
    model = AcousticModel()
    set_mel_statistics(model, items)
    if start is not None:
        model.load_state_dict(torch.load(start, weights_only=True)["model"])
    average = copy.deepcopy(model)
    optimizer = optimizer_for(model, rate)
    warm_up = min(WARM_UP, steps // 4)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: (
            min(1.0, (step + 1) / warm_up)
            * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(step / steps, 1.0))))
        ),
    )
    train_items = [item for item in items if not item.valid]
    batches = iter(Batches(train_items, BATCH_FRAMES, SPEAKER_WEIGHTS, seed))
    shares = torch.tensor(FLOW_TIME_SHARES)
    times = torch.tensor(FLOW_TIMES)
    began, used, seen = time.time(), time.process_time(), []
    for step in range(1, steps + 1):
        batch = next(batches)
        flow_time = times[torch.multinomial(shares, len(batch.tokens), replacement=True)]
        with torch.autocast("cpu", torch.bfloat16):
            loss = losses(model, batch, flow_time, torch.randn_like(batch.mel))
        optimizer.zero_grad(set_to_none=True)
        loss.total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        decay = min(EMA, (step + 1) / (step + 20))
        update_average(average, model, decay)
        seen.append((loss.mel.item(), loss.duration.item()))
        if step % LOG_EVERY == 0:
            mel, duration = np.mean(seen[-LOG_EVERY:], axis=0)
            print(
                f"{step} mel {mel:.4f} duration {duration:.4f} wall {time.time() - began:.0f} s "
                f"cpu {time.process_time() - used:.0f} s",
                flush=True,
            )
        if step % SAVE_EVERY == 0 or step == steps:
            save(average, step, out)


def update_average(average: nn.Module, model: nn.Module, decay: float) -> None:
    with torch.no_grad():
        for kept, new in zip(average.parameters(), model.parameters(), strict=True):
            kept.lerp_(new, 1 - decay)


def save(model: AcousticModel, step: int, out: Path) -> None:
    """Replaces the checkpoint at once, so that a reader never sees half of it."""
    partial = out.with_suffix(".partial")
    torch.save({"model": model.state_dict(), "step": step}, partial)
    partial.replace(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--start", type=Path, help="a checkpoint to go on from")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    items = load_items(options.data)
    frames = sum(len(item.mel) for item in items)
    print(f"{len(items)} utterances, {frames / 93.75 / 3600:.2f} hours", flush=True)
    train(items, options.out, options.steps, options.rate, options.start, SEED)


if __name__ == "__main__":
    main()
