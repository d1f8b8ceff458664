"""How many frames a text gets: the prompt's pace, applied to the text's tokens."""

import math
from dataclasses import dataclass

from twinvox.backends.luxtts.contract import CONTRACT
from twinvox.errors import SynthesisError


@dataclass(frozen=True, slots=True)
class Duration:
    """Frames of one synthesis: ``prompt`` conditioning frames, then ``generated`` new ones."""

    prompt: int
    generated: int

    @property
    def total(self) -> int:
        return self.prompt + self.generated


def generated_frames(prompt_frames: int, prompt_tokens: int, text_tokens: int, speed: float) -> int:
    """Frames for ``text_tokens`` at the prompt's frames per token, divided by ``speed``."""
    return math.ceil(prompt_frames / prompt_tokens * text_tokens / speed)


def plan_duration(
    prompt_frames: int, prompt_tokens: int, text_tokens: int, speed: float
) -> Duration:
    """Frames of the whole synthesis.

    Raises SynthesisError where the result is too short to be speech or leaves a token without a
    frame (the model would answer with silence).
    """
    generated = generated_frames(prompt_frames, prompt_tokens, text_tokens, speed)
    duration = Duration(prompt_frames, generated)
    if generated < CONTRACT.min_generated:
        raise SynthesisError(
            f"the text would get {generated} mel frames, at least {CONTRACT.min_generated} are "
            "needed; lower the speed or use a prompt whose transcript matches its length"
        )
    if duration.total < prompt_tokens + text_tokens:
        raise SynthesisError(
            f"{prompt_tokens + text_tokens} tokens would share {duration.total} mel frames, less "
            "than one each; lower the speed or check the prompt's transcript"
        )
    return duration


def check_speed(speed: float) -> float:
    if not CONTRACT.min_speed <= speed <= CONTRACT.max_speed:
        raise ValueError(f"speed is {speed}; expected {CONTRACT.min_speed} to {CONTRACT.max_speed}")
    return float(speed)
