"""Text, phonemes or token ids to the model's token ids, cut into segments that fit the model."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from twinvox.backends.base import check_token_ids, warn_caller
from twinvox.backends.luxtts.contract import CONTRACT
from twinvox.backends.luxtts.duration import generated_frames
from twinvox.backends.luxtts.prompt import Prompt
from twinvox.errors import PromptError, TextError, TextWarning
from twinvox.text.en_normalizer import normalize
from twinvox.text.g2p import G2p
from twinvox.text.ipa_tokenizer import IpaTokenizer
from twinvox.text.scripts import unspoken_letters
from twinvox.text.segments import split_segments

Ids = npt.NDArray[np.int32]
_NOTHING: Ids = np.zeros(0, np.int32)
_SHOWN = 40  # characters of the text in a message


@dataclass(frozen=True, slots=True)
class Utterance:
    """One segment, ready for the models."""

    text: str
    ids: Ids


@dataclass(frozen=True, slots=True)
class Budget:
    """The largest segment that fits: prompt ids and frames, speed, frames the models offer."""

    prompt_tokens: int
    prompt_frames: int
    speed: float
    max_frames: int
    max_generated: int

    def fits(self, text_tokens: int) -> bool:
        generated = generated_frames(
            self.prompt_frames, self.prompt_tokens, text_tokens, self.speed
        )
        return (
            self.prompt_tokens + text_tokens < CONTRACT.max_tokens
            and generated <= self.max_generated
            and self.prompt_frames + generated <= self.max_frames
        )

    def describe(self) -> str:
        room = CONTRACT.max_tokens - 1 - self.prompt_tokens
        return (
            f"{max(room, 0)} tokens and "
            f"{max(min(self.max_generated, self.max_frames - self.prompt_frames), 0)} mel frames"
        )


class Frontend:
    """Thread-safe; holds the token table and the G2P engine."""

    def __init__(self, tokenizer: IpaTokenizer) -> None:
        self._tokenizer = tokenizer
        self._g2p = G2p()

    def prompt_ids(self, prompt: Prompt, normalization: str) -> Ids:
        """Token ids of what the prompt says. Raises PromptError where that is nothing."""
        phonemes = self._prompt_phonemes(prompt, normalization)
        ids, _ = self._tokenizer.encode(phonemes)
        if not _has_sound(phonemes) or not len(ids):
            raise PromptError(
                f"the prompt's transcript {prompt.text!r} has nothing to say; "
                "write down what the recording says"
            )
        return ids

    def unspoken_of_prompt(self, prompt: Prompt, normalization: str) -> tuple[str, ...]:
        """What ``prompt_ids`` leaves out: letters of other scripts, phonemes without a token."""
        _, unknown = self._tokenizer.encode(self._prompt_phonemes(prompt, normalization))
        letters: tuple[str, ...] = ()
        if prompt.phonemes is None:
            letters = unspoken_letters(normalize(prompt.text, normalization))
        return tuple(dict.fromkeys((*letters, *unknown)))

    def _prompt_phonemes(self, prompt: Prompt, normalization: str) -> str:
        if prompt.phonemes is not None:
            return prompt.phonemes
        return self._g2p.phonemize(prompt.text, normalization=normalization)

    def utterances(
        self, text: str, budget: Budget, *, phonemes: bool, normalization: str
    ) -> list[Utterance]:
        """Segments of ``text`` (IPA where ``phonemes``), each within the budget.

        Raises TextError where there is nothing to say or nothing fits; warns with TextWarning of
        what is left out: letters of other scripts, phonemes without a token.
        """

        @functools.cache
        def encode(piece: str) -> tuple[Ids, tuple[str, ...]]:
            ipa = piece
            if not phonemes:
                ipa = self._g2p.phonemize(piece, normalization=normalization)
            return self._tokenizer.encode(ipa) if _has_sound(ipa) else (_NOTHING, ())

        def fits(piece: str) -> bool:
            return budget.fits(len(encode(piece)[0]))

        found: list[Utterance] = []
        skipped: dict[str, None] = {}
        for piece in split_segments(text, fits):
            ids, unknown = encode(piece)
            skipped.update(dict.fromkeys(unknown))
            if len(ids):
                found.append(Utterance(piece, ids))
        if not found:
            shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
            raise TextError(f"nothing to say in {shown!r}; give text with words or numbers")
        if not phonemes:
            skipped.update(dict.fromkeys(unspoken_letters(normalize(text, normalization))))
        if skipped:
            warn_caller(
                f"{' '.join(map(repr, skipped))} cannot be spoken by this model and is left out",
                TextWarning,
            )
        return found

    def from_ids(self, token_ids: Sequence[int], budget: Budget) -> list[Utterance]:
        """One segment of the caller's own ids. Raises TextError where it cannot fit."""
        ids = check_token_ids(token_ids, len(self._tokenizer))
        if not budget.fits(len(ids)):
            raise TextError(
                f"{len(ids)} token ids do not fit; this voice leaves room for {budget.describe()}"
            )
        return [Utterance("", ids)]


def _has_sound(phonemes: str) -> bool:
    return any(char.isalpha() for char in phonemes)
