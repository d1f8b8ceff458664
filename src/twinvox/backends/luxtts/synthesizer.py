"""LuxTTS: English zero-shot voice cloning at 48 kHz."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from twinvox._native.rng import derive_seed
from twinvox.asr import Transcriber, Word
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
    open_checked,
    resolve_voice,
    stage_opener,
    warn_caller,
)
from twinvox.backends.luxtts import contract
from twinvox.backends.luxtts.contract import COMPUTE_UNITS, CONTRACT
from twinvox.backends.luxtts.duration import check_speed, plan_duration
from twinvox.backends.luxtts.flow import decode_flow
from twinvox.backends.luxtts.folder import ModelFolder, choose_variant, open_folder
from twinvox.backends.luxtts.frontend import Budget, Frontend, Ids, Utterance
from twinvox.backends.luxtts.prompt import Prompt, check_pace, make_voice
from twinvox.backends.luxtts.vocoder import vocode
from twinvox.errors import PromptError, PromptWarning
from twinvox.runtime import RuntimeOptions
from twinvox.speech import Speech
from twinvox.text.en_normalizer import DEFAULT_NORMALIZATION, check_normalization
from twinvox.text.ipa_tokenizer import IpaTokenizer
from twinvox.voice import Voice


class SynthesisOptions(TypedDict, total=False):
    """Options of ``synthesize`` and ``stream``; see ``LuxTTS.stream``."""

    seed: int
    speed: float
    phonemes: bool
    normalization: str
    token_ids: Sequence[int] | None
    progress: ProgressCallback | None


class LuxTTS:
    """The models of one folder. Immutable and safe to use from several threads at once."""

    sample_rate = CONTRACT.sample_rate
    """Hz of the samples it returns."""

    def __init__(self, folder: ModelFolder, open_model: OpenModel) -> None:
        self._frontend = Frontend(IpaTokenizer.load(folder.tokens))
        # One model of flexible length may serve every bucket.
        load = partial(open_checked, cache(open_model))
        self._text_encoder = load(folder.text_encoder, contract.text_encoder())
        self._fm_decoder = {
            n: load(path, contract.fm_decoder(n)) for n, path in folder.fm_decoder.items()
        }
        self._vocoder = {n: load(path, contract.vocoder(n)) for n, path in folder.vocoder.items()}

    @classmethod
    def load(
        cls,
        models_dir: str | PathLike[str],
        *,
        variant: str | None = None,
        **options: Unpack[RuntimeOptions],
    ) -> "LuxTTS":
        """Load a folder in the published layout; see ``twinvox.load``."""
        variant = choose_variant(variant)
        folder = open_folder(Path(models_dir), variant)
        return cls(folder, stage_opener(folder.stages, COMPUTE_UNITS[variant], **options))

    def voice(
        self,
        audio: AudioSource,
        prompt_text: str | None = None,
        *,
        phonemes: bool = False,
        normalization: str = DEFAULT_NORMALIZATION,
        words: Sequence[Word] | None = None,
        trim: bool = False,
        transcriber: Transcriber | None = None,
    ) -> Voice:
        """Make a voice from a recording of up to 5 s and its transcript.

        ``audio`` is a file, or samples and their rate. ``phonemes`` says that the transcript is
        IPA; ``normalization`` is how it was read, see ``stream``. A longer recording is cut, with
        its transcript, where ``words`` lists each word's start and end in seconds. ``trim``
        removes silence at the edges. Without ``prompt_text`` the recording is transcribed and, if
        need be, cut by ``transcriber`` (default: ``twinvox.asr.Whisper()``, of the extra asr).
        Raises PromptError.
        """
        check_normalization(normalization)
        voice = make_voice(
            audio,
            prompt_text,
            phonemes=phonemes,
            words=words,
            trim=trim,
            transcriber=transcriber,
        )
        prompt = Prompt.from_voice(voice)
        check_pace(len(prompt.mel), len(self._frontend.prompt_ids(prompt, normalization)))
        if skipped := self._frontend.unspoken_of_prompt(prompt, normalization):
            warn_caller(
                f"{' '.join(map(repr, skipped))} of the transcript cannot be spoken by this model "
                "and is left out; the transcript must say what the recording says",
                PromptWarning,
            )
        return voice

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
        speed: float = 1.0,
        phonemes: bool = False,
        normalization: str = DEFAULT_NORMALIZATION,
        token_ids: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Iterator[Speech]:
        """Speak ``text`` segment by segment, each part as soon as it is ready.

        ``voice`` is a Voice, a voice file, or the name of a shipped voice (None: the default one).
        The same ``seed`` gives the same samples. ``speed`` is 0.5 to 2.0. ``phonemes`` says that
        ``text`` is IPA; ``token_ids`` replaces it by one segment of ids. ``normalization`` of text
        and transcript is "natural", "upstream" (as the model's training text was prepared) or
        "none" (the text holds only words). ``progress`` is called with (done, total, stage) and
        ends the speech early by returning False.
        Raises TextError, PromptError or SynthesisError.
        """
        if (text is None) == (token_ids is None):
            raise TypeError("give either text or token_ids")
        check_normalization(normalization)
        prompt = Prompt.from_voice(resolve_voice(voice))
        prompt_ids = self._frontend.prompt_ids(prompt, normalization)
        budget = self._budget(prompt, prompt_ids, check_speed(speed))
        if token_ids is not None:
            utterances = self._frontend.from_ids(token_ids, budget)
        else:
            utterances = self._frontend.utterances(
                text or "", budget, phonemes=phonemes, normalization=normalization
            )
        counter = Progress(len(utterances) * (CONTRACT.num_steps + 2), progress)
        segments = [
            (
                utterance.text,
                partial(
                    self._speak,
                    utterance,
                    prompt,
                    prompt_ids,
                    budget.speed,
                    derive_seed(check_seed(seed), index),
                    counter,
                ),
            )
            for index, utterance in enumerate(utterances)
        ]
        return join_segments(segments, self.sample_rate, seed)

    def _budget(self, prompt: Prompt, prompt_ids: Ids, speed: float) -> Budget:
        budget = Budget(
            len(prompt_ids), len(prompt.mel), speed, max(self._fm_decoder), max(self._vocoder)
        )
        if not budget.fits(1):
            raise PromptError(
                f"the prompt takes {len(prompt_ids)} of {CONTRACT.max_tokens - 1} tokens and "
                f"{len(prompt.mel)} of {budget.max_frames} mel frames, which leaves no room for "
                "text; use a shorter prompt"
            )
        return budget

    def _speak(
        self,
        utterance: Utterance,
        prompt: Prompt,
        prompt_ids: Ids,
        speed: float,
        seed: int,
        progress: Progress,
        timings: Timings,
    ) -> Spoken:
        n_tokens = len(prompt_ids) + len(utterance.ids)
        duration = plan_duration(len(prompt.mel), len(prompt_ids), len(utterance.ids), speed)
        with timings.measure("text_encoder"):
            tokens = np.full((1, CONTRACT.max_tokens), CONTRACT.pad_id, np.int32)
            tokens[0, : len(prompt_ids)] = prompt_ids
            tokens[0, len(prompt_ids) : n_tokens] = utterance.ids
            padding_mask = np.zeros((1, CONTRACT.max_tokens), np.float32)
            padding_mask[0, n_tokens:] = 1.0
            encoded = self._text_encoder.run({"tokens": tokens, "padding_mask": padding_mask})
        progress.step("text_encoder")
        with timings.measure("flow"):
            bucket = min(n for n in self._fm_decoder if n >= duration.total)
            frames = decode_flow(
                self._fm_decoder[bucket],
                bucket,
                encoded["token_embeds"][0],
                n_tokens,
                prompt.mel,
                duration,
                seed,
                partial(progress.step, "flow"),
            )
        with timings.measure("vocoder"):
            bucket = min(n for n in self._vocoder if n >= duration.generated)
            samples = vocode(self._vocoder[bucket], bucket, frames, prompt.loudness)
        progress.step("vocoder")
        return Spoken(samples)
