"""Trains the vocoder on a recorded corpus, optionally on mels that the acoustic model predicted.

    python -m tools.embedded_voice.train_vocoder --data DIR --out vocoder.pt --steps 6000

The loss is a spectral energy distance: the control network runs once, the signal is drawn twice
with independent noise, and d(real, a) + d(real, b) - d(a, b) is minimised, d being an L1 distance
of multi-resolution spectra. Being a proper score it also learns how noisy the speech is, which a
plain spectral loss underestimates. Pitch is a classification.
"""

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import torch
from torch import Tensor

from . import acoustic_model
from .acoustic_model import FLOW_TIMES, GUIDANCE, AcousticModel, lay_out
from .dataset import DITHER, FEAT_SCALE, PROMPT_FRAMES, PROMPT_TOKENS, log_mel
from .pitch import track_pitch
from .synthesize import read_manifest
from .tokens import encode
from .vocoder_model import HOP, LOG_FLOOR, PITCH_CENTRE_HZ, SAMPLE_RATE, Vocoder, pitch_bin_log

CROP_FRAMES = 64
EDGE_BLOCKS = 3
RESOLUTIONS = (128, 512, 2048)
LOG_EPSILON = 1e-3
EMA_DECAY = 0.998
PITCH_WEIGHT = 0.3
PREDICTED_SHARE = 0.7


@dataclass(frozen=True)
class Utterance:
    """mels [frames, 100] of the speech and as the acoustic model predicts it; F0 of the speech."""

    samples: np.ndarray
    mels: list[np.ndarray]
    f0: np.ndarray
    voiced: np.ndarray


def load_utterances(
    data: Path, seconds_per_speaker: float, acoustic: AcousticModel | None
) -> list[Utterance]:
    """Reads the manifest's training part in order until every speaker has its share."""
    noise = np.random.default_rng(0)
    used: dict[str, float] = {}
    latest: dict[str, tuple[np.ndarray, list[int]]] = {}
    loaded = []
    for entry in read_manifest(data):
        speaker = entry["speaker"]
        if entry["split"] != "train" or used.get(speaker, 0.0) >= seconds_per_speaker:
            continue
        samples, _ = soundfile.read(data / entry["wav"], dtype="float32")
        samples += DITHER * noise.standard_normal(len(samples), dtype=np.float32)
        mel = log_mel(samples)
        if len(mel) < CROP_FRAMES + 4:
            continue
        used[speaker] = used.get(speaker, 0.0) + len(samples) / SAMPLE_RATE
        mels = [mel]
        tokens = encode(entry["phonemes"])
        if acoustic is not None:
            prompt = latest.get(speaker, (mel, tokens))
            mels.append(predict_mel(acoustic, prompt, tokens, entry["durations"], len(mel)))
        latest[speaker] = mel, tokens
        f0, voiced = track_pitch(samples, len(mel))
        loaded.append(Utterance(samples, mels, f0, voiced))
    return loaded


@torch.no_grad()
def predict_mel(
    model: AcousticModel,
    prompt: tuple[np.ndarray, list[int]],
    tokens: list[int],
    durations: list[float],
    frames: int,
) -> np.ndarray:
    """Log mel [frames, 100] with the true durations; prompt: log mel and tokens of other speech."""
    prompt_mel, prompt_tokens = prompt
    before = prompt_tokens[-PROMPT_TOKENS:]
    both = torch.tensor([before + tokens])
    timing = torch.tensor([[0.0] * len(before) + durations])
    length = frames + frames % 2
    shape = (1, length, prompt_mel.shape[1])
    cut = torch.from_numpy(FEAT_SCALE * prompt_mel[: PROMPT_FRAMES[1]]).unsqueeze(0)
    cut = cut[:, : cut.shape[1] // 2 * 2]
    embedding, _ = model.text_encoder.encode(both, torch.ones(*both.shape, 1))
    rows, layout = lay_out(embedding, timing, torch.arange(length, dtype=torch.float32)[None])
    decoder = model.fm_decoder
    speaker = decoder.encode_speaker(cut, torch.ones(cut.shape[:2]))
    noise = torch.randn(shape)
    finished = torch.zeros(shape)
    guidance = torch.full((1,), GUIDANCE)
    for time_step in FLOW_TIMES:
        # The product's solver: interpolate between its own noise and the estimate of the mel.
        x = (1.0 - time_step) * noise + time_step * finished
        t = torch.full((1,), time_step)
        finished = decoder.estimate(x, rows, layout, speaker, t, guidance, torch.ones(1, length))
        noise = (x - time_step * finished) / (1.0 - time_step)
    return finished[0, :frames].numpy() / FEAT_SCALE


@dataclass(frozen=True)
class Batch:
    mel: Tensor  # [batch, 100, frames]
    audio: Tensor  # [batch, (frames - 1) * 256]
    f0: Tensor  # [batch, frames]
    voiced: Tensor  # [batch, frames]


def draw_batch(utterances: list[Utterance], size: int, rng: np.random.Generator) -> Batch:
    """Random crops with a random gain; some end in the padding that the buckets are filled with."""
    mels, audios, f0s, voicings = [], [], [], []
    weights = np.array([len(u.f0) for u in utterances], float)
    for index in rng.choice(len(utterances), size, p=weights / weights.sum()):
        u = utterances[index]
        source = u.mels[-1 if rng.random() < PREDICTED_SHARE else 0]
        start = int(rng.integers(0, len(u.f0) - CROP_FRAMES))
        stop = start + CROP_FRAMES
        gain = math.exp(rng.uniform(-0.7, 0.3))
        mel = np.maximum(source[start:stop] + math.log(gain), LOG_FLOOR)
        audio = gain * u.samples[start * HOP : (stop - 1) * HOP]
        audio = np.pad(audio, (0, (CROP_FRAMES - 1) * HOP - len(audio)))
        voiced = u.voiced[start:stop].copy()
        if rng.random() < 0.08:
            end = int(rng.integers(CROP_FRAMES // 2, CROP_FRAMES - 8))
            mel[end:] = LOG_FLOOR
            audio[(end - 1) * HOP :] = 0.0
            voiced[end:] = False
        mels.append(mel.T)
        audios.append(audio)
        f0s.append(u.f0[start:stop])
        voicings.append(voiced)
    return Batch(*(torch.from_numpy(np.stack(x)) for x in (mels, audios, f0s, voicings)))


def spectra(audio: Tensor) -> list[Tensor]:
    """Log magnitudes at each resolution."""
    found = []
    for size in RESOLUTIONS:
        window = torch.hann_window(size)
        stft = torch.stft(audio, size, size // 4, window=window, center=False, return_complex=True)
        power = stft.real**2 + stft.imag**2
        found.append(torch.log(torch.sqrt(power + 1e-9) / math.sqrt(size / 1024) + LOG_EPSILON))
    return found


def distance(a: list[Tensor], b: list[Tensor]) -> Tensor:
    """L1 of log magnitudes plus L1 of compressed magnitudes, which favours what is loud."""
    total = torch.zeros(())
    for x, y in zip(a, b, strict=True):
        total = (
            total
            + (x - y).abs().mean()
            + 0.5 * (torch.exp(0.5 * x) - torch.exp(0.5 * y)).abs().mean()
        )
    return total / len(a)


def pitch_loss(logits: Tensor, f0: Tensor, voiced: Tensor) -> Tensor:
    """Cross entropy against a blurred one-hot of log F0; unvoiced frames count for little."""
    centres = torch.tensor(pitch_bin_log(), dtype=torch.float32)
    spacing = centres[1] - centres[0]
    offset = (torch.log(f0 / PITCH_CENTRE_HZ).unsqueeze(-1) - centres) / spacing
    target = torch.softmax(-0.5 * offset**2, dim=-1)
    loss = -(target * torch.log_softmax(logits, dim=-1)).sum(-1)
    weight = torch.where(voiced, 1.0, 0.05)
    return (loss * weight).sum() / weight.sum()


def speech_loss(model: Vocoder, batch: Batch) -> tuple[Tensor, Tensor]:
    """Energy distance of the drawn audio and pitch loss."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits, bands, bursts = model.predict(batch.mel)
    logits, bands, bursts = logits.float(), bands.float(), bursts.float()
    filters = model.filters(bands)
    size, blocks = batch.f0.shape[0], batch.f0.shape[1] - 1

    def draw() -> list[Tensor]:
        noise = torch.randn(size, blocks, HOP)
        drawn = model.render(batch.f0, filters, bursts, noise, torch.rand(size, 1))
        return spectra(drawn[:, EDGE_BLOCKS:].reshape(size, -1))

    first, second = draw(), draw()
    with torch.no_grad():
        real = spectra(batch.audio[:, EDGE_BLOCKS * HOP :])
    energy = distance(real, first) + distance(real, second) - distance(first, second)
    return energy, pitch_loss(logits, batch.f0, batch.voiced)


def learning_rate(step: int, steps: int, peak: float) -> float:
    warm = min(1.0, (step + 1) / 100)
    return peak * warm * (0.02 + 0.98 * 0.5 * (1.0 + math.cos(math.pi * step / steps)))


def train(options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    started = time.time()
    acoustic = acoustic_model.load(options.acoustic) if options.acoustic else None
    utterances = load_utterances(options.data, 60.0 * options.minutes, acoustic)
    hours = sum(len(u.samples) for u in utterances) / SAMPLE_RATE / 3600
    print(
        f"{len(utterances)} utterances, {hours:.2f} h, read in {time.time() - started:.0f} s",
        flush=True,
    )
    model = Vocoder()
    if options.init is not None:
        model.load_state_dict(torch.load(options.init)["model"])
    average = {k: v.detach().clone() for k, v in model.state_dict().items()}
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    sums, started = np.zeros(2), time.time()
    for step in range(options.steps):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(step, options.steps, options.rate)
        energy, pitch = speech_loss(model, draw_batch(utterances, options.batch, rng))
        optimiser.zero_grad(set_to_none=True)
        (energy + PITCH_WEIGHT * pitch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        decay = min(EMA_DECAY, (step + 1) / (step + 10))
        for name, value in model.state_dict().items():
            average[name].lerp_(value.detach(), 1.0 - decay)
        sums += [energy.item(), pitch.item()]
        if (step + 1) % options.report == 0:
            energy_mean, pitch_mean = sums / options.report
            print(
                f"step {step + 1} energy {energy_mean:.4f} pitch {pitch_mean:.4f} "
                f"{time.time() - started:.0f} s",
                flush=True,
            )
            sums[:] = 0.0
            torch.save({"model": average}, options.out)
    torch.save({"model": average}, options.out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with manifest.jsonl")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--minutes", type=float, default=30.0, help="speech used of each speaker")
    parser.add_argument("--acoustic", type=Path, help="also train on mels this model predicts")
    parser.add_argument("--init", type=Path, help="checkpoint to start from")
    parser.add_argument("--report", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
