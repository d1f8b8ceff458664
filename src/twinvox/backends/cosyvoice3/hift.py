"""HiFT, the vocoder: log-mel frames to 24 kHz samples."""

import numpy as np

from twinvox.audio import Samples
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.flow import Mel
from twinvox.errors import SynthesisError
from twinvox.runtime.base import Session


def vocode(session: Session, mel: Mel) -> Samples:
    """Samples float32 [n] in -1..1 of log-mel [n_mels, frames], at most ``flow_frames``."""
    frames = mel.shape[1]
    window = np.zeros((1, CONTRACT.n_mels, CONTRACT.flow_frames), np.float32)
    window[0, :, :frames] = mel
    result = session.run({"mel": window, "num_valid_frames": np.array([frames], np.int32)})
    audio = result["audio"].reshape(-1)
    length = int(result["audio_length_samples"][0])
    if not 0 < length <= audio.size:
        raise SynthesisError(
            f"HiFT made {length} samples of {frames} mel frames; expected 1 to {audio.size}"
        )
    samples = audio[:length]
    if not np.isfinite(samples).all():
        raise SynthesisError(
            "HiFT made NaN or infinite samples; a half-precision flow may have overflowed: use "
            "Flow-N250-fp32, or another seed or voice"
        )
    return np.clip(samples, -1.0, 1.0)
