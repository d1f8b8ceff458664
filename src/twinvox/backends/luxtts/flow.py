"""The flow decoder: four anchor-Euler steps from noise to scaled log-mel frames."""

import itertools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from twinvox._native.rng import Rng
from twinvox._native.rows import spread
from twinvox._native.solver import anchor_euler_step
from twinvox.backends.luxtts.contract import CONTRACT, timesteps
from twinvox.backends.luxtts.duration import Duration
from twinvox.runtime.base import Session

Float32 = npt.NDArray[np.float32]
_TIMES = timesteps()


def decode_flow(
    session: Session,
    bucket: int,
    token_embeds: Float32,
    n_tokens: int,
    prompt_mel: Float32,
    duration: Duration,
    seed: int,
    step_done: Callable[[], None],
) -> Float32:
    """Generate mel frames.

    ``token_embeds`` is [max_tokens, n_mels] with any row stride, its row ``n_tokens`` the pad
    slot; ``prompt_mel`` the unscaled log-mel [prompt frames, n_mels]. Returns scaled log-mel
    [generated frames, n_mels]. ``step_done`` is called after each step.
    """
    shape = (1, bucket, CONTRACT.n_mels)
    x = np.zeros(shape, np.float32)
    text_condition = np.zeros(shape, np.float32)
    speech_condition = np.zeros(shape, np.float32)
    padding_mask = np.zeros((1, bucket), np.float32)
    t = np.zeros(1, np.float32)

    active = x[0, : duration.total]
    active[:] = Rng(seed).gaussian(active.shape)
    spread(token_embeds, n_tokens, duration.total, text_condition[0])
    np.multiply(prompt_mel, CONTRACT.feat_scale, out=speech_condition[0, : duration.prompt])
    padding_mask[0, duration.total :] = 1.0

    predict = session.bind(
        {
            "x": x,
            "text_condition": text_condition,
            "speech_condition": speech_condition,
            "t": t,
            "guidance_scale": np.array([CONTRACT.guidance_scale], np.float32),
            "padding_mask": padding_mask,
        },
        {"v": np.empty(shape, np.float32)},
    )
    for step, (now, later) in enumerate(itertools.pairwise(_TIMES)):
        t[0] = now
        v = predict()["v"]
        last = step == CONTRACT.num_steps - 1
        anchor_euler_step(active, v[0, : duration.total], now, later, last)
        step_done()
    return active[duration.prompt :]
