"""CosyVoice3: Mandarin zero-shot voice cloning at 24 kHz."""

import operator
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from os import PathLike
from pathlib import Path
from typing import NoReturn, TypedDict, Unpack

from twinvox._native.ras import RasSampler
from twinvox._native.rng import derive_seed
from twinvox.audio import AudioSource
from twinvox.backends.base import (
    DEFAULT_SEED,
    OpenModel,
    Progress,
    ProgressCallback,
    Spoken,
    Timings,
    VoiceSource,
    check_seed,
    join_parts,
    join_segments,
    one_ahead,
    open_checked,
    stage_opener,
    warn_caller,
)
from twinvox.backends.cosyvoice3 import contract
from twinvox.backends.cosyvoice3.contract import COMPUTE_UNITS, CONTRACT
from twinvox.backends.cosyvoice3.flow import decode_flow, open_flow
from twinvox.backends.cosyvoice3.folder import DEFAULT_VOICE, ModelFolder, open_folder
from twinvox.backends.cosyvoice3.frontend import DEFAULT_NORMALIZATION, Frontend, Utterance
from twinvox.backends.cosyvoice3.hift import vocode
from twinvox.backends.cosyvoice3.lm import Decoder, Embeddings, Generated
from twinvox.backends.cosyvoice3.prompt import Prompt
from twinvox.errors import ModelNotFoundError, PromptError, SynthesisWarning
from twinvox.runtime import RuntimeOptions
from twinvox.speech import Speech
from twinvox.text.qwen2_tokenizer import Qwen2Tokenizer
from twinvox.voice import Voice

_STAGES = 4  # prefill, decode, flow, hift


class SynthesisOptions(TypedDict, total=False):
    """Options of ``synthesize`` and ``stream``; see ``CosyVoice3.stream``."""

    seed: int
    normalization: str
    prenormalized: bool
    auto_chunking: bool
    max_new_tokens: int | None
    min_token_text_ratio: float
    token_ids: Sequence[int] | None
    progress: ProgressCallback | None


class CosyVoice3:
    """The models of one folder. Immutable and safe to use from several threads at once."""

    sample_rate = CONTRACT.sample_rate
    """Hz of the samples it returns."""

    def __init__(self, folder: ModelFolder, open_model: OpenModel) -> None:
        self._embeddings = Embeddings.open(folder.embeddings, folder.speech_embedding)
        self._frontend = Frontend(Qwen2Tokenizer.load(folder.tokenizer_dir, folder.special_tokens))
        self._voices = folder.voices
        self._prefill = open_checked(open_model, folder.llm_prefill, contract.llm_prefill())
        self._decode = open_checked(open_model, folder.llm_decode, contract.llm_decode())
        self._hift = open_checked(open_model, folder.hift, contract.hift())
        self._flow = open_flow(folder.flow, open_model)

    @classmethod
    def load(
        cls,
        models_dir: str | PathLike[str],
        *,
        tokenizer_dir: str | PathLike[str] | None = None,
        embeddings_file: str | PathLike[str] | None = None,
        special_tokens_file: str | PathLike[str] | None = None,
        **options: Unpack[RuntimeOptions],
    ) -> "CosyVoice3":
        """Load a folder in the published layout; see ``twinvox.load``."""
        folder = open_folder(
            Path(models_dir),
            tokenizer_dir=tokenizer_dir,
            embeddings_file=embeddings_file,
            special_tokens_file=special_tokens_file,
        )
        return cls(folder, stage_opener(folder.stages, COMPUTE_UNITS, **options))

    def voice(self, audio: AudioSource, prompt_text: str | None = None, **_: object) -> NoReturn:
        """Not possible yet: the models that read a recording are not part of this backend."""
        raise PromptError(
            "CosyVoice3 cannot make a voice from a recording yet; use a voice bundle: "
            "twinvox.Voice.load('<id>.safetensors') with '<id>.json' beside it, or the id of one "
            f"in {self._voices}"
        )

    def synthesize(
        self,
        text: str | None = None,
        voice: VoiceSource = None,
        **options: Unpack[SynthesisOptions],
    ) -> Speech:
        """Speak ``text``: all parts of ``stream``, which describes the options, in one piece."""
        seed = options.get("seed", DEFAULT_SEED)
        return join_parts(self.stream(text, voice, **options), self.sample_rate, seed)

    def stream(
        self,
        text: str | None = None,
        voice: VoiceSource = None,
        *,
        seed: int = DEFAULT_SEED,
        normalization: str = DEFAULT_NORMALIZATION,
        prenormalized: bool = False,
        auto_chunking: bool = True,
        max_new_tokens: int | None = None,
        min_token_text_ratio: float = 0.0,
        token_ids: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Iterator[Speech]:
        """Speak ``text`` segment by segment, each part as soon as it is ready.

        The language model works on the next segment, in a thread of its own, while the caller's
        thread makes the audio of this one.

        ``voice`` is a Voice, a voice file or the id of a voice in the folder (None: the default
        one). The same ``seed`` gives the same samples. ``normalization`` is "zh", "zh-basic",
        "wetext" or "none"; ``prenormalized`` text is spoken as it is. ``auto_chunking`` cuts long
        text into segments. ``max_new_tokens`` (None or below 1: what the model has room for) caps
        the tokens (40 ms) of a segment, with a SynthesisWarning where that cuts it short. No
        segment ends before ``min_token_text_ratio`` tokens for each token of its text.
        ``token_ids`` replaces ``text`` by one segment of text ids. ``progress`` is called with
        (done, total, stage), in either thread but never in both at once, and ends the speech early
        by returning False.
        Raises TextError, PromptError or SynthesisError.
        """
        if (text is None) == (token_ids is None):
            raise TypeError("give either text or token_ids")
        if not 0 <= min_token_text_ratio <= CONTRACT.flow_tokens:
            raise ValueError(
                f"min_token_text_ratio is {min_token_text_ratio}; expected 0 to "
                f"{CONTRACT.flow_tokens}"
            )
        seed = check_seed(seed)
        prompt = Prompt.from_voice(self._resolve(voice))
        if token_ids is not None:
            utterances = self._frontend.from_ids(token_ids, prompt)
        else:
            utterances = self._frontend.utterances(
                text or "",
                prompt,
                normalization=normalization,
                prenormalized=prenormalized,
                chunking=auto_chunking,
            )
        cap = min(operator.index(max_new_tokens or 0), prompt.room)
        return self._speak_all(
            utterances,
            prompt,
            cap if cap > 0 else prompt.room,
            min_token_text_ratio,
            seed,
            Progress(len(utterances) * _STAGES, progress),
        )

    def _resolve(self, voice: VoiceSource) -> Voice:
        if isinstance(voice, Voice):
            return voice
        source = DEFAULT_VOICE if voice is None else voice
        for path in (self._voices / f"{source}.safetensors", Path(source)):
            if path.is_file():
                return Voice.load(path)
        ids = ", ".join(sorted(path.stem for path in self._voices.glob("*.safetensors")))
        raise ModelNotFoundError(
            f"no voice {str(source)!r}: it is neither a file nor one of those in {self._voices}: "
            f"{ids or 'none'}; for a published one run: twinvox voice pull {source}"
        )

    def _speak_all(
        self,
        utterances: list[Utterance],
        prompt: Prompt,
        cap: int,
        min_token_text_ratio: float,
        seed: int,
        progress: Progress,
    ) -> Iterator[Speech]:
        decoder = Decoder(self._prefill, self._decode, self._embeddings)

        def generate(index: int) -> Generated:
            utterance = utterances[index]
            sampler = RasSampler(
                derive_seed(seed, index),
                top_p=CONTRACT.top_p,
                top_k=CONTRACT.top_k,
                win_size=CONTRACT.win_size,
                tau_r=CONTRACT.tau_r,
                min_tokens=round(min_token_text_ratio * utterance.n_own),
                first_stop_id=CONTRACT.first_stop_id,
            )
            return decoder.generate(utterance.ids, prompt.speech_ids, sampler, cap, progress)

        tasks = [partial(generate, index) for index in range(len(utterances))]
        with closing(one_ahead(tasks, progress.stop)) as generated:
            speak = partial(self._speak, generated, prompt, _Notices(len(utterances)), progress)
            segments = [(utterance.text, speak) for utterance in utterances]
            yield from join_segments(segments, self.sample_rate, seed)

    def _speak(
        self,
        generated: Iterator[Generated],
        prompt: Prompt,
        notices: "_Notices",
        progress: Progress,
        timings: Timings,
    ) -> Spoken:
        speech = next(generated)
        notices.check(speech)
        timings.update(speech.timings)
        with timings.measure("flow"):
            mel, _ = decode_flow(self._flow, prompt, speech.tokens)
        progress.step("flow")
        with timings.measure("hift"):
            samples = vocode(self._hift, mel)
        progress.step("hift")
        return Spoken(samples, speech.tokens, speech.finished_on_eos)


class _Notices:
    """The warnings of one synthesis, given in the caller's thread."""

    def __init__(self, n_segments: int) -> None:
        self._n_segments = n_segments
        self._segment = 0
        self._announced = False

    def check(self, generated: Generated) -> None:
        self._segment += 1
        if generated.declined and not self._announced:
            self._announced = True
            warn_caller(
                f"the runtime declined the buffers of {', '.join(generated.declined)}; they are "
                "copied, which is slower",
                SynthesisWarning,
            )
        if not generated.finished_on_eos:
            count = len(generated.tokens)
            warn_caller(
                f"segment {self._segment} of {self._n_segments} has no end: it was cut after "
                f"{count} tokens ({count * CONTRACT.seconds_per_token:.2f} s), the cap being "
                f"{generated.cap}; raise max_new_tokens, use a shorter prompt or shorter sentences",
                SynthesisWarning,
            )
