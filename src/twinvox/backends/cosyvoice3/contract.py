"""The numbers of CosyVoice3, each once, and the tensors its models declare.

Origin: the CosyVoice3 backend of FluidAudio and upstream CosyVoice (both Apache-2.0).
"""

from dataclasses import dataclass

import numpy as np

from twinvox.runtime.base import ModelContract, TensorContract


@dataclass(frozen=True, slots=True)
class CosyVoice3Contract:
    """Constants of the CosyVoice3 models; the unit stands beside each."""

    sample_rate: int = 24_000  # Hz, prompt and output
    n_fft: int = 1920  # samples, prompt mel
    hop_length: int = 480  # samples of one mel frame, prompt mel and HiFT
    mel_pad: int = 720  # samples reflected at either end of the prompt
    n_mels: int = 80  # Slaney triangles, 0..12 kHz
    magnitude_epsilon: float = 1e-9  # under the root of the power spectrum
    log_floor: float = 1e-5  # mel magnitude
    token_mel_ratio: int = 2  # mel frames of one speech token
    speaker_dim: int = 192  # channels of the speaker embedding, CAM++
    prefill_tokens: int = 256  # rows of the prefill's input
    kv_max: int = 768  # rows of the KV cache
    embed_dim: int = 896  # channels of an embedding, Qwen2-0.5B
    n_layers: int = 24
    n_kv_heads: int = 2
    head_dim: int = 64
    flow_tokens: int = 250  # speech tokens of the flow, prompt and new ones
    text_vocab: int = 151_936  # rows of the text embedding
    speech_vocab: int = 6_761  # ids of the language model's output
    sos: int = 6_561  # speech id before the text
    task: int = 6_563  # speech id after the text
    first_stop_id: int = 6_561  # this and all above end the speech; below are FSQ codes
    top_p: float = 0.8  # RAS
    top_k: int = 25  # RAS
    win_size: int = 10  # tokens, RAS
    tau_r: float = 0.1  # share of win_size, RAS
    end_of_prompt: str = "<|endofprompt|>"
    end_of_prompt_id: int = 151_646

    @property
    def flow_frames(self) -> int:
        """Mel frames of the flow's output and of HiFT's input."""
        return self.flow_tokens * self.token_mel_ratio

    @property
    def seconds_per_token(self) -> float:
        return self.token_mel_ratio * self.hop_length / self.sample_rate

    @property
    def kv_shape(self) -> tuple[int, int, int, int, int]:
        """[layers, 1, heads, rows, channels] of the keys, and of the values."""
        return self.n_layers, 1, self.n_kv_heads, self.kv_max, self.head_dim


CONTRACT = CosyVoice3Contract()

# On Core ML, by stage. The Neural Engine refuses decode, breaks flow, and hift trips a watchdog.
COMPUTE_UNITS = {
    "prefill": "cpu_and_ne",
    "decode": "cpu_and_gpu",
    "flow": "cpu_and_gpu",
    "hift": "cpu_and_gpu",
}


def llm_prefill() -> ModelContract:
    rows = CONTRACT.prefill_tokens
    return ModelContract(
        "LLM-Prefill",
        inputs=(
            TensorContract("inputs_embeds", (1, rows, CONTRACT.embed_dim), np.float32),
            TensorContract("input_len", (1,), np.int32),
        ),
        outputs=(
            TensorContract("speech_logits", (1, rows, CONTRACT.speech_vocab), np.float32),
            TensorContract("kv_k", CONTRACT.kv_shape, np.float32),
            TensorContract("kv_v", CONTRACT.kv_shape, np.float32),
        ),
    )


def llm_decode() -> ModelContract:
    return ModelContract(
        "LLM-Decode",
        inputs=(
            TensorContract("inputs_embeds", (1, 1, CONTRACT.embed_dim), np.float32),
            TensorContract("cur_len", (1,), np.int32),
            TensorContract("kv_k", CONTRACT.kv_shape, np.float32),
            TensorContract("kv_v", CONTRACT.kv_shape, np.float32),
        ),
        outputs=(
            TensorContract("speech_logits", (1, 1, CONTRACT.speech_vocab), np.float32),
            TensorContract("kv_k_out", CONTRACT.kv_shape, np.float32),
            TensorContract("kv_v_out", CONTRACT.kv_shape, np.float32),
        ),
    )


def flow(mel_dtype: type[np.float16] | type[np.float32]) -> ModelContract:
    """``mel_dtype`` is the model's choice."""
    return ModelContract(
        "Flow",
        inputs=(
            TensorContract("token_total", (1, CONTRACT.flow_tokens), np.int32),
            TensorContract("num_prompt_tokens", (1,), np.int32),
            TensorContract("prompt_feat", (1, CONTRACT.flow_frames, CONTRACT.n_mels), np.float32),
            TensorContract("embedding", (1, CONTRACT.speaker_dim), np.float32),
        ),
        outputs=(
            TensorContract("mel", (1, CONTRACT.n_mels, CONTRACT.flow_frames), mel_dtype),
            TensorContract("num_prompt_mel", (1,), np.int32),
        ),
    )


def hift() -> ModelContract:
    frames = CONTRACT.flow_frames
    return ModelContract(
        "HiFT",
        inputs=(
            TensorContract("mel", (1, CONTRACT.n_mels, frames), np.float32),
            TensorContract("num_valid_frames", (1,), np.int32),
        ),
        outputs=(
            TensorContract("audio", (1, frames * CONTRACT.hop_length), np.float32),
            TensorContract("audio_length_samples", (1,), np.int32),
        ),
    )
