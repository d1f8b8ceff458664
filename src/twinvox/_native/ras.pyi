"""Repetition-aware sampling of speech tokens."""

from collections.abc import Iterable
from typing import final

import numpy as np
import numpy.typing as npt

@final
class RasSampler:
    """The sampler of one decoding: it owns the random numbers and the window of recent tokens.

    The ids in order of probability, the lower id first among equals, are taken while they are
    fewer than top_k and together less probable than top_p, and one of them is drawn. If it is
    among the last win_size tokens at least win_size * tau_r times, one of all other ids is drawn
    instead; where no other has a probability, it stands. Each draw is one `Rng.uniform`.

    Ids from first_stop_id on are left out as long as fewer than min_tokens were sampled. The
    seed_tokens, a recorded stream, are returned first and without a draw.

    Raises ValueError unless 0 <= seed < 2**64, 0 < top_p <= 1, 1 <= top_k <= 256,
    1 <= win_size <= 256, tau_r >= 0, first_stop_id > 0 and every seed token is an id.
    """

    def __init__(
        self,
        seed: int,
        *,
        top_p: float,
        top_k: int,
        win_size: int,
        tau_r: float,
        min_tokens: int = 0,
        first_stop_id: int | None = None,
        seed_tokens: Iterable[int] = (),
    ) -> None: ...
    def sample(self, logits: npt.NDArray[np.float32]) -> int:
        """The next token, by the C-contiguous logits of one step, whatever their axes.

        Raises SynthesisError, and nothing is drawn, where a logit is NaN or +infinity or none is
        above -infinity.
        """
