"""Vectors of encoders: at length 1, and the same for all inputs."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.errors import InputError

FEWEST = 20  # inputs, which seldom are all the same


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


def same_vectors(frame: pl.DataFrame) -> Iterator[str]:
    """Yield a warning for the column ``image``, and ``text``, of which all vectors are the same."""
    for kind in ("image", "text"):
        if frame.height >= FEWEST and frame[kind].n_unique() == 1:
            yield (
                f"the vectors of all {frame.height:,} {kind}s are the same; check the encoder's weights, "
                f"unless the {kind}s are the same"
            )
