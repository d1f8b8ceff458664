"""The CosyVoice3 host in NumPy, on the twins of the toy models."""

import itertools

import numpy as np

from tests import toy_cosyvoice3 as toy
from tests.reference import ras
from twinvox._native.rng import Rng, derive_seed

RAS = {"top_p": 0.8, "top_k": 25, "win_size": 10, "tau_r": 0.1}


def speak(text_ids, prompt, seed, *, cap, stop_after=toy.NEVER):
    """Tokens, whether a stop token followed, and samples of one segment.

    ``text_ids`` are the prompt's and the segment's own; ``prompt`` the tensors of a bundle.
    """
    speech_ids = prompt["llm_prompt_speech_ids"][0]
    rows = [toy.speech_row(6561, 0)]
    rows += [toy.text_row(i) for i in text_ids]
    rows.append(toy.speech_row(6563, 0))
    rows += [toy.speech_row(i, 0) for i in speech_ids]
    embeds = np.zeros((256, 896), np.float32)
    embeds[: len(rows)] = rows
    twin = toy.Twin(stop_after, stop_at_once=False)
    uniforms = ras.uniform_stream(Rng(seed))
    tokens = []
    logits = twin.prefill(embeds, len(rows))
    while True:
        token, _ = ras.sample(logits, tokens, uniforms, **RAS)
        if token >= toy.STOP:
            return tokens, True, audio(tokens, prompt)
        tokens.append(token)
        if len(tokens) == cap:
            return tokens, False, audio(tokens, prompt)
        logits = twin.decode(toy.speech_row(token, 1))


def audio(tokens, prompt):
    speech_ids = prompt["llm_prompt_speech_ids"][0]
    n_prompt, n_new = len(speech_ids), len(tokens)
    token_total = np.zeros(250, np.int32)
    token_total[: n_prompt + n_new] = [*speech_ids, *tokens]
    prompt_feat = np.zeros((500, 80), np.float32)
    prompt_feat[: 2 * n_prompt] = prompt["prompt_mel"][0]
    mel = toy.flow(token_total, n_prompt, prompt_feat, prompt["spk_embedding"][0])
    window = np.zeros((80, 500), np.float32)
    window[:, : 2 * n_new] = mel[:, 2 * n_prompt : 2 * (n_prompt + n_new)]
    samples, length = toy.hift(window, 2 * n_new)
    return samples[:length]


def join(pieces):
    """8 ms cosine cross-fades at 24 kHz, shortened to half of the shorter side."""
    joined = pieces[0]
    for before, piece in itertools.pairwise(pieces):
        fade = min(192, len(before) // 2, len(piece) // 2)
        rise = (0.5 - 0.5 * np.cos(np.pi * (np.arange(fade) + 0.5) / fade)).astype(np.float32)
        crossed = joined[len(joined) - fade :] * (1 - rise) + piece[:fade] * rise
        joined = np.concatenate([joined[: len(joined) - fade], crossed, piece[fade:]])
    return joined


def synthesize(segments, prompt, seed, **options):
    """Tokens of each segment, whether each one stopped, and the joined samples."""
    spoken = [
        speak(ids, prompt, derive_seed(seed, index), **options)
        for index, ids in enumerate(segments)
    ]
    tokens, finished, pieces = zip(*spoken, strict=True)
    return tokens, finished, join(pieces)
