"""Moving rows between strided model arrays and contiguous ones; float16 <-> float32."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Element = TypeVar("_Element", np.float32, np.float16, np.int32)

def compact(
    src: npt.NDArray[_Element], out: npt.NDArray[_Element] | None = None
) -> npt.NDArray[_Element]:
    """Copy an array of any strides, of up to 8 axes, to a C-contiguous one; returns it.

    Fast where only rows are padded. out, when given, has the shape and dtype of src, is
    C-contiguous and writable and does not overlap it.
    """

def spread(
    token_embeds: npt.NDArray[np.float32],
    n_tokens: int,
    n_frames: int,
    out: npt.NDArray[np.float32],
) -> None:
    """Stretch token_embeds [rows, channels] uniformly over the first n_frames of out.

    Each of the n_tokens first rows fills n_frames // n_tokens frames of out [max_frames,
    channels], row n_tokens (the pad slot) fills the frames that remain up to n_frames, and the
    tail is zeroed. Rows of token_embeds may be padded.

    Raises ValueError unless 1 <= n_tokens < rows and n_tokens <= n_frames <= max_frames.
    """

def to_float32(src: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
    """Widen a C-contiguous float16 array of any shape; exact."""

def to_float16(src: npt.NDArray[np.float32]) -> npt.NDArray[np.float16]:
    """Round a C-contiguous float32 array of any shape to nearest even.

    What is beyond 65504 rounds to infinity, NaN stays NaN.
    """
