"""Text or token ids to the text ids of segments that fit the model beside the prompt."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twinvox.backends.base import Ids, check_token_ids
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.prompt import Prompt
from twinvox.errors import ModelFormatError, PromptError, TextError, TwinvoxError
from twinvox.text.qwen2_tokenizer import Qwen2Tokenizer
from twinvox.text.zh_normalizer import normalize
from twinvox.text.zh_segments import segment_budget, split_speech_segments

DEFAULT_NORMALIZATION = "zh"
MARKER = CONTRACT.end_of_prompt
_MARKER_LIKE = re.compile(
    r"[<＜〈《]\s*[|｜¦]\s*end[\s_-]*of[\s_-]*prompt\s*[|｜¦]\s*[>＞〉》]", re.IGNORECASE
)
_FRAME_TOKENS = 2  # sos and task


@dataclass(frozen=True, slots=True)
class Utterance:
    """One segment; ``ids`` are all text ids, the prompt's and its own."""

    text: str
    ids: Ids
    n_own: int


class Frontend:
    """Thread-safe; holds the tokenizer."""

    def __init__(self, tokenizer: Qwen2Tokenizer) -> None:
        marker_id = tokenizer.special_tokens.get(MARKER)
        if marker_id != CONTRACT.end_of_prompt_id:
            raise ModelFormatError(
                f"the tokenizer gives {MARKER} the id {marker_id}; expected "
                f"{CONTRACT.end_of_prompt_id}: its special-tokens file is not CosyVoice3's"
            )
        self._tokenizer = tokenizer

    def utterances(
        self, text: str, prompt: Prompt, *, normalization: str, prenormalized: bool, chunking: bool
    ) -> list[Utterance]:
        """Segments of ``text``, each fitting the model; one segment unless ``chunking``.

        The text may begin with an instruction that ends in the marker where the prompt has none;
        it then goes before every segment. Special tokens such as [breath] stay as they are.
        Raises PromptError or TextError.
        """
        _refuse_lookalikes(text, "the text", TextError)  # before full-width marks become ASCII
        spoken = normalize(
            text,
            normalization,
            prenormalized=prenormalized,
            kept=self._tokenizer.special_pattern,
        )
        instruction, spoken = _divide(spoken, prompt)
        prefix = np.concatenate(
            [self._tokenizer.encode(part) for part in (prompt.text, instruction)]
        )
        room = _text_room(prefix, prompt)
        encode = functools.cache(self._tokenizer.encode)

        def fits(piece: str) -> bool:
            return len(encode(piece)) <= room

        whole = spoken.strip()
        if chunking:
            pieces = split_speech_segments(spoken, segment_budget(prompt.room), fits)
        else:
            pieces = [whole] if any(map(str.isalnum, whole)) else []
        if not pieces:
            raise TextError(f"nothing to say in {_shown(text)}; give text with words or numbers")
        if not all(map(fits, pieces)):
            raise TextError(
                f"{_shown(whole)} takes {len(encode(whole))} text tokens; {room} fit beside the "
                "prompt: shorten it, or let it be cut into segments (auto_chunking)"
            )
        return [
            Utterance(piece, np.concatenate([prefix, encode(piece)]), len(encode(piece)))
            for piece in pieces
        ]

    def from_ids(self, token_ids: Sequence[int], prompt: Prompt) -> list[Utterance]:
        """One segment of the caller's own text ids. Raises TextError where it cannot fit."""
        own = check_token_ids(token_ids, CONTRACT.text_vocab)
        prefix = self._tokenizer.encode(prompt.text)
        room = _text_room(prefix, prompt)
        if len(own) > room:
            raise TextError(f"{len(own)} token ids do not fit; this voice leaves room for {room}")
        _check_markers(prompt, int(np.count_nonzero(own == CONTRACT.end_of_prompt_id)))
        return [Utterance("", np.concatenate([prefix, own]), len(own))]


def _divide(text: str, prompt: Prompt) -> tuple[str, str]:
    """The instruction up to the marker, which may be empty, and what is to be spoken."""
    _check_markers(prompt, text.count(MARKER))
    if MARKER not in text:
        return "", text
    instruction, _, spoken = text.partition(MARKER)
    return instruction + MARKER, spoken


def _check_markers(prompt: Prompt, in_text: int) -> None:
    """Prompt and text together hold the marker once."""
    _refuse_lookalikes(prompt.text, "the voice's prompt_text", PromptError)
    in_prompt = prompt.text.count(MARKER)
    if in_prompt > 1:
        raise PromptError(f"the voice's prompt_text holds {MARKER} {in_prompt} times, not once")
    if in_prompt + in_text == 0:
        raise PromptError(
            f"neither the voice's prompt_text {_shown(prompt.text)} nor the text holds {MARKER}; "
            f"a prompt_text reads 'You are a helpful assistant.{MARKER}' and what the prompt says"
        )
    if in_prompt + in_text > 1:
        raise TextError(
            f"the text holds {MARKER}, which may stand once and "
            + ("is in the voice's prompt_text already" if in_prompt else "stands there more often")
            + "; remove it from the text"
        )


def _text_room(prefix: Ids, prompt: Prompt) -> int:
    """The text ids that fit beside the prompt's. Raises PromptError where none does."""
    taken = _FRAME_TOKENS + len(prefix) + len(prompt.speech_ids)
    if taken >= CONTRACT.prefill_tokens:
        raise PromptError(
            f"the prompt takes {taken} of the {CONTRACT.prefill_tokens} tokens that the model "
            f"reads ({len(prefix)} of text, {len(prompt.speech_ids)} of speech), which leaves no "
            "room for text; use a shorter prompt"
        )
    return CONTRACT.prefill_tokens - taken


def _refuse_lookalikes(text: str, where: str, error: type[TwinvoxError]) -> None:
    for match in _MARKER_LIKE.finditer(text):
        if match.group() != MARKER:
            raise error(f"{where} holds {match.group()!r}; did you mean {MARKER!r}?")


def _shown(text: str, length: int = 40) -> str:
    return repr(text if len(text) <= length else text[:length] + "…")
