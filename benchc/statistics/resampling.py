"""The bootstrap over items: counts of the drawn items, their means, and percentile intervals.

Draws are shared by all models (paired), since all are evaluated on the same items. Sums are exact: values are
rounded to a grid, a power of two so coarse that no float64 sum over drawn items rounds. A matrix product then
gives the same bits for any number of threads, order of additions and vector width.
"""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from benchc.randomness import generator_of

Floats = npt.NDArray[np.float64]

TAILS = np.array([0.025, 0.975])  # of a 95 % interval
MANTISSA = 52  # bits: below 2**52 times the grid, every multiple and the sum of two are exact in float64


def item_counts(items: int, draws: int, seed: int) -> Floats:
    """Return how often each item is drawn, float64[1 + draws, items]; row 0, all ones, is the sample itself.

    Each other row draws ``items`` items with replacement and depends only on ``seed``, its number and
    ``items``, so that more draws extend fewer.
    """
    counts = np.ones((1 + draws, items))
    for draw in range(1, 1 + draws):
        chosen = generator_of(seed, "bootstrap", draw).integers(items, size=items)
        counts[draw] = np.bincount(chosen, minlength=items)
    return counts


def on_grid(values: Floats, terms: int) -> Floats:
    """Return ``values`` rounded to a grid on which a sum of ``terms`` of them is exact in any order.

    ``terms`` counts repetitions. The grid is 2**-52 times ``terms`` times the largest magnitude, both rounded
    up to powers of two.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0:
        return values
    bits = MANTISSA - math.ceil(math.log2(terms)) - math.ceil(math.log2(largest))
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, bits)), -bits) + 0.0)


def drawn_means(counts: Floats, sums: Floats, weights: Floats) -> Floats:
    """Return Σ counts·sums / Σ counts·weights over items, float64[draws, columns].

    ``sums``: float64[items, columns] on a grid, values times weights; ``weights``: float64[items] or
    float64[items, columns] on a grid. NaN where the weights of a draw are 0.
    """
    total = counts @ weights
    if total.ndim == 1:
        total = total[:, None]
    drawn = counts @ sums
    return np.divide(drawn, total, out=np.full_like(drawn, np.nan), where=total > 0)


def percentile_interval(
    draws: Floats, *, interpolate: bool = True, tails: Floats = TAILS
) -> tuple[Floats, Floats]:
    """Return the ends of the percentile interval of each column of float64[draws, columns].

    NaN are excluded; a column of NaN has NaN ends. Ends are interpolated between draws or, without
    ``interpolate``, are draws themselves (the inverse of the distribution function), as for ranks.
    ``tails``: the quantiles that are the ends; the default is a 95 % interval.
    """
    method: Literal["linear", "inverted_cdf"] = "linear" if interpolate else "inverted_cdf"
    ends = np.full((2, draws.shape[1]), np.nan)
    gaps = np.isnan(draws)
    whole = ~gaps.any(axis=0)
    if whole.any():
        ends[:, whole] = np.quantile(draws[:, whole], tails, axis=0, method=method)
    for column in np.flatnonzero(~whole & ~gaps.all(axis=0)):
        known = draws[~gaps[:, column], column]
        ends[:, column] = np.quantile(known, tails, method=method)
    return ends[0], ends[1]
