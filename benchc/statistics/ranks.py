"""Ranks, and their stability in resamples."""

import numpy as np
import numpy.typing as npt

from benchc.statistics.resampling import Floats
from benchc.statistics.rounding import tied


def ranks(values: Floats) -> npt.NDArray[np.int64]:
    """Return the rank of each value along the last axis, 1 for the lowest. NaN has rank 0.

    Values that agree to ``rounding.DIGITS`` decimals share the lower rank.
    """
    shown = tied(values)
    below = (shown[..., None, :] < shown[..., :, None]).sum(axis=-1) + 1
    return np.where(np.isnan(values), 0, below)


def rank_shares(draws: Floats) -> Floats:
    """Return the share of resamples in which each has each rank, float[things, things].

    ``draws``: float64[draws, things]. A thing whose values are NaN has no rank.
    """
    count = draws.shape[1]
    drawn = ranks(draws)
    shares: Floats = (drawn[:, :, None] == np.arange(1, count + 1)).sum(axis=0) / max(1, len(drawn))
    return shares
