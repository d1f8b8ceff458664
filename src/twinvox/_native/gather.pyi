"""Rows of an embedding table, looked up by id."""

import numpy as np
import numpy.typing as npt

def gather(
    table: npt.NDArray[np.float16] | npt.NDArray[np.float32],
    ids: npt.NDArray[np.int32],
    out: npt.NDArray[np.float32],
) -> None:
    """Write the rows `ids` [n] of table [rows, channels], widened, to out [n, channels].

    All are C-contiguous; out does not overlap the table.

    Raises IndexError, and nothing is written, unless every id is in 0 .. rows - 1.
    """
