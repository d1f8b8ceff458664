"""The numbers of LuxTTS (ZipVoice-Distill), each once, and the tensors its models declare.

Origin: the LuxTTS backend of FluidAudio and upstream ZipVoice/LuxTTS (both Apache-2.0).
"""

from dataclasses import dataclass

import numpy as np

from twinvox.runtime.base import ModelContract, TensorContract


@dataclass(frozen=True, slots=True)
class LuxTTSContract:
    """Constants of the LuxTTS models; the unit stands beside each."""

    prompt_sample_rate: int = 24_000  # Hz, VocosFbank
    sample_rate: int = 48_000  # Hz, vocoder output
    n_fft: int = 1024  # samples at 24 kHz, VocosFbank
    hop_length: int = 256  # samples at 24 kHz, VocosFbank
    n_mels: int = 100  # HTK triangles, 0..12 kHz, VocosFbank
    log_floor: float = 1e-7  # mel magnitude, VocosFbank
    feat_scale: float = 0.1  # factor on log-mel, ZipVoice
    max_tokens: int = 256  # token slots of TextEncoder, the last a pad slot
    frame_buckets: tuple[int, ...] = (1024,)  # mel frames, FmDecoder
    vocoder_buckets: tuple[int, ...] = (282, 555)  # mel frames, Vocoder
    output_hop_length: int = 512  # samples at 48 kHz of one mel frame
    num_steps: int = 4  # solver steps, distilled
    t_shift: float = 0.5  # time warp, ZipVoice
    guidance_scale: float = 3.0  # ZipVoice-Distill
    target_rms: float = 0.1  # full scale 1.0, quieter prompts are raised to it
    prompt_seconds: float = 5.0  # seconds of prompt that condition the model
    min_generated: int = 2  # mel frames; the vocoder makes (frames - 1) hops
    pad_id: int = 0  # token `_`
    min_speed: float = 0.5  # ours: beyond, the words blur
    max_speed: float = 2.0


CONTRACT = LuxTTSContract()

# On Core ML, by variant and stage. The gpu graph corrupts audio on the Neural Engine.
COMPUTE_UNITS = {
    "gpu": {"text_encoder": "cpu_and_gpu", "flow": "cpu_and_gpu", "vocoder": "cpu_and_gpu"},
    "ane": {"text_encoder": "cpu_and_ne", "flow": "cpu_and_ne", "vocoder": "cpu_and_gpu"},
}


def timesteps(
    num_steps: int = CONTRACT.num_steps, t_shift: float = CONTRACT.t_shift
) -> list[float]:
    """``num_steps + 1`` solver times from 0 to 1: t = s u / (1 + (s - 1) u) with s = t_shift."""
    return [
        t_shift * u / (1 + (t_shift - 1) * u) for u in (i / num_steps for i in range(num_steps + 1))
    ]


def text_encoder() -> ModelContract:
    slots = CONTRACT.max_tokens
    return ModelContract(
        "TextEncoder",
        inputs=(
            TensorContract("tokens", (1, slots), np.int32),
            TensorContract("padding_mask", (1, slots), np.float32),
        ),
        outputs=(TensorContract("token_embeds", (1, slots, CONTRACT.n_mels), np.float32),),
    )


def fm_decoder(frames: int) -> ModelContract:
    rows = (1, frames, CONTRACT.n_mels)
    return ModelContract(
        "FmDecoder",
        inputs=(
            TensorContract("x", rows, np.float32),
            TensorContract("text_condition", rows, np.float32),
            TensorContract("speech_condition", rows, np.float32),
            TensorContract("t", (1,), np.float32),
            TensorContract("guidance_scale", (1,), np.float32),
            TensorContract("padding_mask", (1, frames), np.float32),
        ),
        outputs=(TensorContract("v", rows, np.float32),),
    )


def vocoder(frames: int) -> ModelContract:
    return ModelContract(
        f"Vocoder{frames}",
        inputs=(TensorContract("mel", (1, CONTRACT.n_mels, frames), np.float32),),
        outputs=(TensorContract("audio", None, np.float32),),
    )
