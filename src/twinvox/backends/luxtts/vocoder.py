"""The vocoder: scaled log-mel frames to 48 kHz samples."""

import math

import numpy as np
import numpy.typing as npt

from twinvox.backends.luxtts.contract import CONTRACT
from twinvox.errors import ContractError
from twinvox.runtime.base import Session

Float32 = npt.NDArray[np.float32]


def vocode(session: Session, bucket: int, frames: Float32, loudness: float) -> Float32:
    """Samples float32 [(frames - 1) * 512] in -1..1 of scaled log-mel [frames, n_mels].

    The bucket's unused frames are silence. ``loudness`` is the factor on the samples after they
    are clipped to full scale.
    """
    mel = np.full((1, CONTRACT.n_mels, bucket), math.log(CONTRACT.log_floor), np.float32)
    np.divide(frames.T, CONTRACT.feat_scale, out=mel[0, :, : len(frames)])
    audio = session.run({"mel": mel})["audio"].reshape(-1)
    expected = (bucket - 1) * CONTRACT.output_hop_length
    if audio.size != expected:
        raise ContractError(
            f"model Vocoder{bucket} returned {audio.size} samples; expected {expected}"
        )
    wanted = (len(frames) - 1) * CONTRACT.output_hop_length
    return np.clip(audio[:wanted], -1.0, 1.0) * np.float32(loudness)
