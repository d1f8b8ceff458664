"""One step of the anchor-Euler flow solver."""

import numpy as np
import numpy.typing as npt

def anchor_euler_step(
    x: npt.NDArray[np.float32],
    v: npt.NDArray[np.float32],
    t: float,
    t_next: float,
    last: bool,
) -> None:
    """Move x [frames, n_mels] in place from time t to t_next along the velocity v.

    With x1 = x + (1 - t) v and x0 = x - t v, x becomes (1 - t_next) x0 + t_next x1, or x1 when
    last is true (t_next is then ignored). v [frames, n_mels] is read where it lies: its rows may
    be padded, but each must be contiguous. x must be C-contiguous and must not overlap v.

    Raises TypeError for another dtype than float32, ValueError for shapes that differ, or for
    strides it cannot read.
    """
