"""Kilobyte LuxTTS models with the contract's names and shapes, and their NumPy twins.

Every output depends on every input, so a swapped input, a wrong stride, a stale row or an
unpadded read changes the samples.
"""

import json
from pathlib import Path

import numpy as np

from tests.mil.builder import Input, build_package, mb

MELS, SLOTS, HOP = 100, 256, 512
_rng = np.random.default_rng(7)
EMBEDDING = _rng.normal(0, 0.5, (360, MELS)).astype(np.float32)
MIX = _rng.normal(0, 0.1, (MELS, MELS)).astype(np.float32)
SPEECH_MIX = _rng.normal(0, 0.1, (MELS, MELS)).astype(np.float32)
BAND = _rng.normal(0, 0.01, (1, MELS)).astype(np.float32)
WAVE = np.sin(np.arange(HOP, dtype=np.float32) * 0.05)[None]


def text_encoder(tokens, padding_mask):
    """token_embeds (1, 256, 100)."""
    return EMBEDDING[tokens] + np.float32(0.25) * padding_mask[..., None]


def fm_decoder(x, text_condition, speech_condition, t, guidance_scale, padding_mask):
    """v (1, frames, 100)."""
    mixed = np.tanh(text_condition @ MIX) + speech_condition @ SPEECH_MIX
    total = speech_condition.sum(axis=1, keepdims=True) * np.float32(1e-3)
    frames = (1 - padding_mask).sum(axis=1, keepdims=True)[..., None] * np.float32(1e-3)
    return mixed * (1 + t) + total + frames + guidance_scale * np.float32(0.01) - x


def fm_decoder_inputs(frames: int, seed: int) -> dict[str, np.ndarray]:
    """Random arrays for every input of the FmDecoder toy."""
    rng = np.random.default_rng(seed)
    rows = (1, frames, MELS)
    shapes = {"x": rows, "text_condition": rows, "speech_condition": rows, "t": (1,),
              "guidance_scale": (1,), "padding_mask": (1, frames)}  # fmt: skip
    return {name: rng.random(shape, np.float32) for name, shape in shapes.items()}


def vocoder(mel):
    """audio (1, (frames - 1) * 512)."""
    energy = np.pad((BAND @ mel)[0, 0], (0, 1))
    level = np.tanh(np.float32(0.1) * energy[:-2] + np.float32(0.05) * energy[2:])
    return (level[:, None] @ WAVE).reshape(1, -1)


def write_text_encoder(path: Path) -> None:
    def build(tokens, padding_mask):
        rows = mb.gather(x=EMBEDDING, indices=tokens, axis=0)
        pad = mb.mul(x=mb.expand_dims(x=padding_mask, axes=[2]), y=0.25)
        return {"token_embeds": mb.add(x=rows, y=pad)}

    inputs = {"tokens": Input((1, SLOTS), np.int32), "padding_mask": Input((1, SLOTS))}
    build_package(path, build, inputs)


def write_fm_decoder(path: Path, frames: int, mels: int = MELS) -> None:
    def build(x, text_condition, speech_condition, t, guidance_scale, padding_mask):
        speech = mb.matmul(x=speech_condition, y=SPEECH_MIX[:mels, :mels])
        mixed = mb.add(x=mb.tanh(x=mb.matmul(x=text_condition, y=MIX[:mels, :mels])), y=speech)
        total = mb.reduce_sum(x=speech_condition, axes=[1], keep_dims=True)
        v = mb.mul(x=mixed, y=mb.add(x=t, y=1.0))
        v = mb.add(x=v, y=mb.mul(x=total, y=1e-3))
        v = mb.add(x=v, y=mb.mul(x=guidance_scale, y=0.01))
        active = mb.reduce_sum(x=mb.sub(x=1.0, y=padding_mask), axes=[1], keep_dims=True)
        v = mb.add(x=v, y=mb.mul(x=mb.expand_dims(x=active, axes=[2]), y=1e-3))
        return {"v": mb.sub(x=v, y=x)}

    rows = Input((1, frames, mels))
    inputs = {
        "x": rows,
        "text_condition": rows,
        "speech_condition": rows,
        "t": Input((1,)),
        "guidance_scale": Input((1,)),
        "padding_mask": Input((1, frames)),
    }
    build_package(path, build, inputs)


def write_vocoder(path: Path, frames: int) -> None:
    def build(mel):
        energy = mb.pad(x=mb.matmul(x=BAND[None], y=mel), pad=[0, 1])
        here = mb.slice_by_size(x=energy, begin=[0, 0, 0], size=[1, 1, frames - 1])
        ahead = mb.slice_by_size(x=energy, begin=[0, 0, 2], size=[1, 1, frames - 1])
        level = mb.tanh(x=mb.add(x=mb.mul(x=here, y=0.1), y=mb.mul(x=ahead, y=0.05)))
        level = mb.transpose(x=level, perm=[0, 2, 1])
        wave = mb.matmul(x=level, y=WAVE[None])
        return {"audio": mb.reshape(x=wave, shape=[1, (frames - 1) * HOP])}

    build_package(path, build, {"mel": Input((1, MELS, frames))})


def write_folder(root: Path, *, frame_buckets=(1024,), vocoder_buckets=(282, 555)) -> Path:
    """A LuxTTS folder in the published layout; buckets other than the contract's are listed."""
    (root / "gpu").mkdir(parents=True)
    (root / "vocoder").mkdir()
    write_text_encoder(root / "gpu" / "TextEncoder.mlpackage")
    for frames in frame_buckets:
        number = "" if frame_buckets == (1024,) else str(frames)
        write_fm_decoder(root / "gpu" / f"FmDecoder{number}.mlpackage", frames)
    for frames in vocoder_buckets:
        write_vocoder(root / "vocoder" / f"Vocoder{frames}.mlpackage", frames)
    symbols = [
        "_",
        "^",
        "$",
        " ",
        *(chr(c) for c in range(33, 48)),
        *"abdefhijklmnoprstuvwzæðŋɐɑɔəɚɛɜɡɪɹɾʃʊʌʒθᵻˈˌː:;?",
    ]
    lines = (f"{symbol}\t{index}\n" for index, symbol in enumerate(dict.fromkeys(symbols)))
    (root / "tokens.txt").write_text("".join(lines), encoding="utf-8")
    config = {"frame_buckets": list(frame_buckets), "vocoder_buckets": list(vocoder_buckets)}
    (root / "config.json").write_text(json.dumps(config))
    return root
