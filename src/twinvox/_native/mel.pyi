"""Natural-log mel spectrograms."""

from typing import Literal, Self, final

import numpy as np
import numpy.typing as npt

@final
class LogMel:
    """A log-mel spectrogram with fixed parameters; immutable, one may serve many threads.

    Frames of n_fft samples, hop_length apart, under a periodic Hann window, of the signal with
    pad samples reflected at either end (not counting the end sample). The magnitude spectrum
    sqrt(re^2 + im^2 + magnitude_epsilon) is weighed by n_mels triangles over
    0..sample_rate / 2 Hz: "htk" with height 1, "slaney" with equal area. The result is
    ln(max(mel, log_floor)).

    n_fft must be 1, 3, 5 or 15 times a power of two from 16 on; ValueError for that and any
    other bad parameter.
    """

    def __new__(
        cls,
        *,
        sample_rate: int,
        n_fft: int,
        hop_length: int,
        n_mels: int,
        mel_scale: Literal["htk", "slaney"],
        pad: int,
        log_floor: float,
        magnitude_epsilon: float = 0.0,
    ) -> Self: ...
    @property
    def min_samples(self) -> int:
        """The fewest samples that can be reflected and give a frame."""

    def __call__(self, samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Log-mel [frames, n_mels] of contiguous samples [n].

        There are as many frames as fit in the padded signal, but at most n / hop_length rounded
        to the nearest. A sample that is NaN or infinite spoils the frames that see it.

        Raises TypeError for another dtype, ValueError for other than one axis, for samples that
        are not contiguous or fewer than min_samples.
        """

    def _at_level(self, samples: npt.NDArray[np.float32], level: str) -> npt.NDArray[np.float32]:
        """As a call, with the kernels of one of cpu.simd_levels(); the bits are the same."""
