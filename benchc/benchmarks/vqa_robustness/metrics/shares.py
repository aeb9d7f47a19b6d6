"""Shares of answers, and their intervals from resamples of the images."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchc.benchmarks.vqa_robustness.metrics.severity import Floats
from benchc.statistics.resampling import drawn_means, item_counts, on_grid, percentile_interval


class Estimates(NamedTuple):
    """Values with the ends of their 95 % percentile intervals, float[columns].

    NaN where a value is undefined, and ends where all resamples agree, which shows no uncertainty.
    """

    value: Floats
    low: Floats
    high: Floats


def drawn_shares(parts: Floats, wholes: Floats, images: Sequence[str], draws: int, seed: int) -> Floats:
    """Return sum(parts) / sum(wholes) over items, in the sample (row 0) and in resamples of the images.

    Args:
        parts: float[items, columns], at least 0.
        wholes: float[items, columns]; a share of nothing is NaN.
        images: of each item; items with one image are drawn together.
        draws: number of resamples.
        seed: their seed.

    Returns float[1 + draws, columns].
    """
    names, places = np.unique(np.array(images, dtype=str), return_inverse=True)
    sums, weights = (np.zeros((len(names), parts.shape[1])) for _ in range(2))
    np.add.at(sums, places, parts)
    np.add.at(weights, places, wholes)
    counts = item_counts(len(names), draws, seed)
    return drawn_means(counts, on_grid(sums, len(names)), on_grid(weights, len(names)))


def estimates(drawn: Floats) -> Estimates:
    """Return the estimates of float[1 + draws, columns], of which row 0 is the sample."""
    low, high = percentile_interval(drawn[1:])
    known = ~np.isnan(drawn[0]) & (low < high)
    return Estimates(drawn[0], np.where(known, low, np.nan), np.where(known, high, np.nan))
