"""Vectors of encoders at length 1."""

import numpy as np
import numpy.typing as npt

from benchc.errors import InputError


def unit(vector: npt.NDArray[np.floating], what: str) -> npt.NDArray[np.float32]:
    """Return ``vector`` at length 1.

    Raises InputError where it has no direction, with ``what``: ``{encoder} gives {input}``.
    """
    length = np.linalg.norm(vector.astype(np.float64))
    if not np.isfinite(length) or length == 0:
        raise InputError(
            f"{what} an embedding of length {length}, which has no direction; use another encoder, or remove "
            "the item from its source"
        )
    return (vector / length).astype(np.float32)
