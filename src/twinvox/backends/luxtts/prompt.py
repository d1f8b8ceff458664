"""The prompt: from a recording to the log-mel frames and loudness that condition the model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from twinvox._native.mel import LogMel
from twinvox.asr import Transcriber, Transcript, Whisper, Word
from twinvox.audio import AudioSource, Samples, edge_silence, read_audio
from twinvox.backends.base import warn_caller
from twinvox.backends.luxtts.contract import CONTRACT
from twinvox.errors import PromptError, PromptWarning, TwinvoxError
from twinvox.voice import Voice

MEL_TENSOR = "luxtts.prompt_mel"
RMS_TENSOR = "luxtts.prompt_rms"

_SILENT_RMS = 1e-4  # full scale 1.0, -80 dBFS
_MIN_SECONDS = 0.3  # a word; reflect padding alone needs 513 samples
_LIKELY_PACE = (2.5, 20.0)  # mel frames per token; English is spoken at about 5 to 8
_NOTABLE_SILENCE = 0.3  # seconds; a tenth of a typical prompt
_KEPT_SILENCE = 0.04  # seconds left at each edge by trimming
_PAUSE = 0.1  # seconds; what is quiet for less may be the closure of a t, k or p
_TIMING_ERROR = 0.08  # seconds by which a recogniser's word border may be off
_LEAST_KEPT = 0.6  # of the cap; a longer prompt is not worth a cut within a word
_HEARD_BEYOND = 2.0  # seconds after the cap, so that the last words before it are heard whole

_log_mel = LogMel(
    sample_rate=CONTRACT.prompt_sample_rate,
    n_fft=CONTRACT.n_fft,
    hop_length=CONTRACT.hop_length,
    n_mels=CONTRACT.n_mels,
    mel_scale="htk",
    pad=CONTRACT.n_fft // 2,
    log_floor=CONTRACT.log_floor,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What conditions the model.

    ``mel`` is the unscaled log-mel [frames, n_mels] of the prompt raised to target_rms; ``rms``
    the level of the recording before that; ``text`` or ``phonemes`` what it says.
    """

    mel: npt.NDArray[np.float32]
    rms: float
    text: str
    phonemes: str | None

    @property
    def loudness(self) -> float:
        """Factor that gives the output the level of a quiet prompt."""
        return min(self.rms / CONTRACT.target_rms, 1.0)

    @classmethod
    def from_voice(cls, voice: Voice) -> "Prompt":
        mel = voice.tensor(MEL_TENSOR)
        rms = voice.tensor(RMS_TENSOR)
        if mel.ndim != 2 or mel.shape[1] != CONTRACT.n_mels or not mel.size or rms.size != 1:
            raise PromptError(
                f"the voice's {MEL_TENSOR} has shape {mel.shape} and {RMS_TENSOR} {rms.shape}; "
                f"expected [frames, {CONTRACT.n_mels}] and [1]"
            )
        level = float(rms.reshape(-1)[0])
        if not np.isfinite(mel).all() or not 0 < level < math.inf:
            raise PromptError(
                f"the voice is damaged: its {MEL_TENSOR} holds NaN or infinity, or its "
                f"{RMS_TENSOR}, {level}, is no level; make the voice again from its recording"
            )
        return cls(
            np.ascontiguousarray(mel, np.float32),
            level,
            voice.prompt_text,
            voice.prompt_phonemes,
        )


def make_voice(
    audio: AudioSource,
    prompt_text: str | None,
    *,
    phonemes: bool = False,
    words: Sequence[Word] | None = None,
    trim: bool = False,
    transcriber: Transcriber | None = None,
) -> Voice:
    """Extract a voice from a recording and its transcript (IPA where ``phonemes``).

    Recordings longer than the model's 5 s are cut together with the transcript where ``words``
    gives the timing, and refused otherwise. ``trim`` removes the silence at the edges. Without
    ``prompt_text`` the ``transcriber``, by default Whisper, writes the transcript and its timing.
    """
    if prompt_text is None and (phonemes or words is not None):
        raise TypeError("phonemes and words describe prompt_text; give that too")
    rate = CONTRACT.prompt_sample_rate
    samples = read_audio(audio, rate)
    gain = _gain(_audible_rms(samples))
    start = 0.0
    lead, trail = edge_silence(samples * gain, rate)
    if trim:
        start = max(lead - _KEPT_SILENCE, 0.0)
        stop = len(samples) / rate - max(trail - _KEPT_SILENCE, 0.0)
        samples = samples[round(start * rate) : round(stop * rate)]
    too_long = len(samples) > CONTRACT.prompt_seconds * rate
    if prompt_text is None:
        heard = _transcribe(samples, transcriber or _default_transcriber())
        prompt_text = heard.text
        if too_long:
            samples, prompt_text = _cut_at_pause(samples, heard.words)
    elif too_long:
        samples, prompt_text = _cut(samples, prompt_text, words, start)
    if too_long:
        lead, trail = edge_silence(samples * gain, rate)
    if not trim:
        _warn_of_silence(lead, trail)
    if not prompt_text.strip():
        raise PromptError("the prompt's transcript is empty; write down what the recording says")
    mel, rms = prompt_mel(samples)
    return Voice(
        "" if phonemes else prompt_text.strip(),
        {MEL_TENSOR: mel, RMS_TENSOR: np.array([rms], np.float32)},
        prompt_phonemes=prompt_text.strip() if phonemes else None,
    )


def prompt_mel(samples: Samples) -> tuple[npt.NDArray[np.float32], float]:
    """Log-mel [frames, n_mels] of a 24 kHz prompt raised to target_rms, and its own RMS."""
    seconds = len(samples) / CONTRACT.prompt_sample_rate
    if seconds < _MIN_SECONDS:
        raise PromptError(
            f"the prompt is too short: {seconds:.2f} s; at least {_MIN_SECONDS} s are needed, and "
            "2 to 5 s give a good voice"
        )
    rms = _audible_rms(samples)
    return _log_mel(np.ascontiguousarray(samples * _gain(rms))), rms


def _gain(rms: float) -> np.float32:
    """What raises a quiet recording to target_rms."""
    return np.float32(max(CONTRACT.target_rms / rms, 1.0))


def _audible_rms(samples: Samples) -> float:
    rms = float(np.sqrt(np.mean(samples**2, dtype=np.float64)))
    if rms < _SILENT_RMS:
        raise PromptError("the prompt is silent; record it again closer to the microphone")
    return rms


def check_pace(frames: int, tokens: int) -> None:
    """Refuse a transcript that cannot belong to the recording; warn of an unlikely one."""
    seconds = frames * CONTRACT.hop_length / CONTRACT.prompt_sample_rate
    found = f"the transcript has {tokens} phonemes for {seconds:.1f} s of recording"
    if frames < tokens:
        raise PromptError(
            f"{found}: it does not belong to it; write down exactly what the recording says"
        )
    fast, slow = _LIKELY_PACE
    if not fast <= frames / tokens <= slow:
        warn_caller(
            f"{found}, which is not the pace of speech; check that it is what the recording says",
            PromptWarning,
        )


def _default_transcriber() -> Transcriber:
    try:
        return Whisper()
    except TwinvoxError as error:
        raise PromptError(
            "the prompt has no transcript: pass prompt_text (--prompt-text), or have it "
            f"transcribed; {error}"
        ) from error


def _transcribe(samples: Samples, transcriber: Transcriber) -> Transcript:
    """What the part of the recording that counts says, and when."""
    rate = CONTRACT.prompt_sample_rate
    heard = samples[: round((CONTRACT.prompt_seconds + _HEARD_BEYOND) * rate)]
    transcript = transcriber.transcribe(heard, rate, language="en", timed=True)
    if not transcript.text.strip():
        raise PromptError("no speech was recognised in the prompt; pass prompt_text")
    return transcript


def _cut(
    samples: Samples, text: str, words: Sequence[Word] | None, start: float
) -> tuple[Samples, str]:
    """The longest run of whole words from the start that fits, and their text."""
    rate = CONTRACT.prompt_sample_rate
    limit = CONTRACT.prompt_seconds
    if words is None:
        raise PromptError(
            f"the prompt is {len(samples) / rate:.1f} s long and the model hears only {limit:g} s: "
            "its transcript would no longer match. Cut recording and transcript to at most "
            f"{limit:g} s, remove edge silence with trim, or give words=[(word, start_s, end_s), …]"
        )
    kept = [(word, end - start) for word, _, end in words if 0 < end - start <= limit]
    if not kept:
        raise PromptError(
            f"no word of the prompt ends within its first {limit:g} s; check the word timing"
        )
    end = min(kept[-1][1] + _KEPT_SILENCE, limit)
    return samples[: round(end * rate)], " ".join(word.strip() for word, _ in kept)


def _cut_at_pause(samples: Samples, words: Sequence[Word]) -> tuple[Samples, str]:
    """The recording up to the quietest place near the end of one of its words, and the words.

    A recogniser's times are off by a tenth of a second. Between words that run into each other a
    cut by them would leave a piece of one, so it is where there is a pause.
    """
    rate, limit = CONTRACT.prompt_sample_rate, CONTRACT.prompt_seconds
    heard = samples[: round((limit + _PAUSE) * rate)]
    power = np.convolve(heard**2, np.ones(round(_PAUSE * rate)), "same")
    cuts: list[tuple[float, int, int]] = []
    for count, (_, _, end) in enumerate(words, 1):
        after = words[count][1] if count < len(words) else end
        first = round((end - _TIMING_ERROR) * rate)
        near = power[first : round(min(max(after, end) + _TIMING_ERROR, limit) * rate)]
        if _LEAST_KEPT * limit <= end <= limit and near.size:
            quietest = int(near.argmin())
            cuts.append((float(near[quietest]), first + quietest, count))
    if not cuts:
        return _cut(samples, "", words, 0.0)
    _, stop, n_words = min(cuts)
    return samples[:stop], " ".join(word for word, _, _ in words[:n_words])


def _warn_of_silence(lead: float, trail: float) -> None:
    if lead + trail > _NOTABLE_SILENCE:
        warn_caller(
            f"the prompt has {lead:.2f} s of silence before and {trail:.2f} s after the speech, "
            "which slows and pads the output; trim removes it",
            PromptWarning,
        )
