"""The prompt: the speech tokens, log-mel frames and speaker that condition the models."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from twinvox._native.mel import LogMel
from twinvox.audio import AudioSource, read_audio
from twinvox.backends.base import Ids
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.errors import PromptError
from twinvox.voice import Voice

Float32 = npt.NDArray[np.float32]

SPEECH_IDS_TENSOR = "cosyvoice3.prompt_speech_ids"
MEL_TENSOR = "cosyvoice3.prompt_mel"
SPEAKER_TENSOR = "cosyvoice3.speaker_embedding"

_log_mel = LogMel(
    sample_rate=CONTRACT.sample_rate,
    n_fft=CONTRACT.n_fft,
    hop_length=CONTRACT.hop_length,
    n_mels=CONTRACT.n_mels,
    mel_scale="slaney",
    pad=CONTRACT.mel_pad,
    log_floor=CONTRACT.log_floor,
    magnitude_epsilon=CONTRACT.magnitude_epsilon,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What conditions the models.

    ``speech_ids`` [n] are the prompt's speech tokens, ``mel`` [2 n, n_mels] its log-mel,
    ``speaker_embedding`` [speaker_dim], ``text`` what it says after the system prompt.
    """

    text: str
    speech_ids: Ids
    mel: Float32
    speaker_embedding: Float32

    @property
    def room(self) -> int:
        """The speech tokens that the flow has left for new ones."""
        return CONTRACT.flow_tokens - len(self.speech_ids)

    @classmethod
    def from_voice(cls, voice: Voice) -> "Prompt":
        """Raises PromptError where the voice lacks a tensor or one is not as expected."""
        ids = _checked(voice, SPEECH_IDS_TENSOR, np.int32, (None,))
        mel = _checked(voice, MEL_TENSOR, np.float32, (None, CONTRACT.n_mels))
        speaker = _checked(voice, SPEAKER_TENSOR, np.float32, (CONTRACT.speaker_dim,))
        if not 1 <= len(ids) < CONTRACT.flow_tokens:
            raise PromptError(
                f"the voice has {len(ids)} prompt tokens; expected 1 to "
                f"{CONTRACT.flow_tokens - 1} ({CONTRACT.seconds_per_token * 1e3:g} ms each), so "
                "that the flow has room for new ones: use a shorter prompt"
            )
        if ids.min() < 0 or ids.max() >= CONTRACT.first_stop_id:
            raise PromptError(
                f"the voice's prompt tokens run from {ids.min()} to {ids.max()}; expected 0 to "
                f"{CONTRACT.first_stop_id - 1}"
            )
        return cls(voice.prompt_text, ids, trim_mel(mel, len(ids)), speaker)


def prompt_mel(audio: AudioSource, n_tokens: int) -> Float32:
    """Log-mel [2 * n_tokens, n_mels] of a recording that has ``n_tokens`` speech tokens.

    Raises PromptError where the recording is unreadable or shorter than its tokens.
    """
    samples = read_audio(audio, CONTRACT.sample_rate)
    if len(samples) < _log_mel.min_samples:
        raise PromptError(
            f"the prompt is too short: {len(samples)} samples at {CONTRACT.sample_rate} Hz; "
            f"expected at least {_log_mel.min_samples}"
        )
    return trim_mel(_log_mel(np.ascontiguousarray(samples)), n_tokens)


def trim_mel(mel: Float32, n_tokens: int) -> Float32:
    """The first ``token_mel_ratio`` frames a token. Raises PromptError where there are fewer."""
    frames = n_tokens * CONTRACT.token_mel_ratio
    if len(mel) < frames:
        raise PromptError(
            f"the prompt has {len(mel)} mel frames for {n_tokens} speech tokens; expected {frames}"
        )
    return mel[:frames]


def _checked(
    voice: Voice, name: str, dtype: type[np.generic], shape: tuple[int | None, ...]
) -> npt.NDArray[Any]:
    array = voice.tensor(name)
    fits = array.ndim == len(shape) and all(
        want in (None, got) for want, got in zip(shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        want = ", ".join("n" if size is None else str(size) for size in shape)
        raise PromptError(
            f"the voice's {name} is {array.dtype} {list(array.shape)}; expected "
            f"{np.dtype(dtype)} [{want}]"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise PromptError(f"the voice's {name} holds NaN or infinite values; make it again")
    return np.ascontiguousarray(array)
