"""The LuxTTS host, step by step in NumPy, over models given as plain functions."""

import itertools
import math

import numpy as np


def synthesize_ids(models, noise, prompt_mel, prompt_ids, text_ids, speed, frames_bucket, buckets):
    """Samples of one segment.

    ``models`` has text_encoder, fm_decoder and vocoder as functions; ``noise`` is
    [features_len, 100]; ``prompt_mel`` unscaled log-mel [P, 100].
    """
    ids = list(prompt_ids) + list(text_ids)
    count, prompt_frames = len(ids), len(prompt_mel)
    generated = math.ceil(prompt_frames / len(prompt_ids) * len(text_ids) / speed)
    total = prompt_frames + generated

    tokens = np.zeros((1, 256), np.int32)
    tokens[0, :count] = ids
    padding = np.zeros((1, 256), np.float32)
    padding[0, count:] = 1
    embeds = models.text_encoder(tokens, padding)[0]

    text_condition = np.zeros((1, frames_bucket, 100), np.float32)
    for frame in range(total):
        text_condition[0, frame] = embeds[min(frame // (total // count), count)]
    speech_condition = np.zeros((1, frames_bucket, 100), np.float32)
    speech_condition[0, :prompt_frames] = prompt_mel * np.float32(0.1)
    mask = np.zeros((1, frames_bucket), np.float32)
    mask[0, total:] = 1
    x = np.zeros((1, frames_bucket, 100), np.float32)
    x[0, :total] = noise

    times = [0.0, 1 / 7, 1 / 3, 0.6, 1.0]
    guidance = np.array([3.0], np.float32)
    for now, later in itertools.pairwise(times):
        t = np.array([now], np.float32)
        v = models.fm_decoder(x, text_condition, speech_condition, t, guidance, mask)
        clean = x + np.float32(1 - now) * v
        start = x - np.float32(now) * v
        x = np.float32(1 - later) * start + np.float32(later) * clean
        x[0, total:] = 0

    bucket = min(n for n in buckets if n >= generated)
    mel = np.full((1, 100, bucket), np.log(1e-7), np.float32)
    mel[0, :, :generated] = x[0, prompt_frames:total].T / np.float32(0.1)
    audio = models.vocoder(mel).reshape(-1)
    return np.clip(audio[: (generated - 1) * 512], -1, 1)
