"""Resamples of the groups, the same for all models and readings: a group is one draw."""

from typing import NamedTuple

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.groups import Floats
from benchc.statistics.resampling import drawn_means, item_counts, percentile_interval
from benchc.statistics.rounding import rounded

PER_CENT = 100.0


class Estimates(NamedTuple):
    """Values and the ends of their 95 % percentile intervals, float64[columns]; NaN where undefined."""

    value: Floats
    low: Floats
    high: Floats

    def columns(self, name: str) -> dict[str, pl.Series]:
        """Return the columns ``name``, ``{name}_low`` and ``{name}_high``; NaN becomes null."""
        return {
            f"{name}{end}": rounded(values) for end, values in zip(("", "_low", "_high"), self, strict=True)
        }


class Resamples:
    """``draws`` resamples of ``groups`` groups with replacement."""

    def __init__(self, groups: int, draws: int, seed: int) -> None:
        self._counts = item_counts(groups, draws, seed)

    def means(self, sums: Floats, weights: Floats | None = None) -> Floats:
        """Return means over groups in per cent, float64[1 + draws, columns]; row 0 is the sample itself.

        They are Σ sums / Σ weights. ``sums``: float64[groups, columns], multiples of 1/4, of which all sums
        are exact in any order; a column of NaN where undefined. ``weights``: whole numbers of the same shape,
        or float64[groups]; None is 1 for all. NaN where the weights of a draw are 0, and in all draws of a
        column with fewer than two groups of weight, for which there is no interval.
        """
        whole = np.ones(len(sums)) if weights is None else weights
        drawn: Floats = PER_CENT * drawn_means(self._counts, sums, whole)
        several = (whole > 0).sum(axis=0) > 1
        drawn[1:, ~np.broadcast_to(several, drawn.shape[1])] = np.nan
        return drawn


def estimates(drawn: Floats) -> Estimates:
    """Return the values and intervals of what `Resamples.means` returned, or of differences of such."""
    return Estimates(drawn[0], *percentile_interval(drawn[1:]))
