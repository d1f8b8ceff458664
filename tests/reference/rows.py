"""Row movements, one element at a time."""

import numpy as np


def compact(src):
    out = np.empty(src.shape, src.dtype)
    for index in np.ndindex(src.shape):
        out[index] = src[index]
    return out


def spread(token_embeds, n_tokens, n_frames, max_frames):
    per_token = n_frames // n_tokens
    out = np.zeros((max_frames, token_embeds.shape[1]), np.float32)
    for frame in range(n_frames):
        out[frame] = token_embeds[min(frame // per_token, n_tokens)]
    return out
