"""How far types of corruption order models alike, and how few of them keep the order: numpy in, numpy out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchc.statistics.resampling import Floats, percentile_interval
from benchc.statistics.rounding import DIGITS, tied

# The lower end of the 95 % interval of the rank correlation, from which a subset keeps the ranking.
KEPT = 0.95


class Subsets(NamedTuple):
    """Growing subsets of types, each with one more.

    Args:
        order: int64[types], the types as they are added.
        correlation: float64[1 + draws, types], of the ranking by each subset with that by all types.
        smallest: the number of types of the smallest that keeps the ranking.
    """

    order: npt.NDArray[np.int64]
    correlation: Floats
    smallest: int


def rank_correlation(first: Floats, second: Floats) -> Floats:
    """Return Spearman's rank correlation over the last axis; NaN where one has equal values only.

    Values that agree to ``DIGITS`` decimals are tied and have their mean rank.
    """
    a, b = _centred_ranks(first), _centred_ranks(second)
    length = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    found = np.full(length.shape, np.nan)
    return np.asarray(np.divide((a * b).sum(axis=-1), length, out=found, where=length > 0))


def growing_subsets(accuracy: Floats) -> Subsets:
    """Return subsets that grow by the type with which their ranking of models is most like that by all types.

    Greedy, by the mean rank correlation over the resamples; of equal types the first. Each resample is
    compared with its own ranking by all types. The ranking is kept where the sample has the same, and the
    95 % interval lies above ``KEPT``; by all types it is.

    ``accuracy``: float64[1 + draws, models, types], the sample first, with at least one resample.
    """
    types = accuracy.shape[2]
    whole = accuracy.mean(axis=2)
    total = np.zeros_like(whole)
    order: list[int] = []
    found: list[Floats] = []
    rest = [*range(types)]
    while rest:
        each = [rank_correlation((total + accuracy[:, :, place]) / (1 + len(order)), whole) for place in rest]
        # Where models are equal, their ranking is unlike any other.
        quality = [float(np.nan_to_num(values[1:], nan=-1).mean()) for values in each]
        best = int(np.argmax(np.round(quality, DIGITS)))
        total = total + accuracy[:, :, rest[best]]
        found.append(each[best])
        order.append(rest.pop(best))
    correlation = np.stack(found, axis=1)
    low, _ = percentile_interval(correlation[1:])
    keeps = (correlation[0] > 1 - 1e-9) & (low >= KEPT)
    keeps[-1] = True
    return Subsets(np.array(order, np.int64), correlation, int(keeps.argmax()) + 1)


def _centred_ranks(values: Floats) -> Floats:
    shown = tied(values)
    below = shown[..., None, :] < shown[..., :, None]
    equal = shown[..., None, :] == shown[..., :, None]
    ranks = below.sum(axis=-1) + equal.sum(axis=-1) / 2
    return np.asarray(ranks - ranks.mean(axis=-1, keepdims=True))
