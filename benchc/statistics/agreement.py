"""Agreement of raters: the share of rows on which all agree, and kappa, of a sample and of its resamples."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchc.statistics.resampling import Floats, on_grid

Integers = npt.NDArray[np.int64]


class Agreement(NamedTuple):
    """Of each resample, float64[draws]; NaN where a resample has no rows, or kappa is not defined.

    Args:
        share: of the rows on which all raters agree, in [0, 1].
        kappa: chance-corrected agreement, at most 1.
    """

    share: Floats
    kappa: Floats


def agreement(ratings: Integers, categories: int, clusters: Integers, counts: Floats) -> Agreement:
    """Return the agreement of at least two raters in resamples of clusters of rows.

    Each resample has as many clusters as the sample.

    Kappa is Cohen's for two raters (Cohen 1960), each of whom has shares of categories of their own, and
    Fleiss' for more (Fleiss 1971), who share them. It is not defined where chance agreement is 1.

    Args:
        ratings: int64[rows, raters], each in [0, categories).
        categories: their number.
        clusters: int64[rows], the cluster of each row, which is drawn as a whole.
        counts: float64[draws, clusters], how often each cluster is drawn.
    """
    rows, raters = ratings.shape
    if raters < 2:
        raise ValueError(f"agreement needs two raters, not {raters}")
    chosen = np.eye(categories)[ratings]  # [rows, raters, categories]
    votes = chosen.sum(axis=1)
    unanimous = (votes == raters).any(axis=1)
    # Of two raters, the share of pairs that agree is that of unanimous rows.
    agreeing = ((votes**2).sum(axis=1) - raters) / (raters * (raters - 1))
    columns = np.column_stack([np.ones(rows), unanimous, agreeing, chosen.reshape(rows, raters * categories)])
    sums = np.zeros((counts.shape[1], columns.shape[1]))
    most = counts.shape[1] * int(np.bincount(clusters, minlength=1).max())  # rows of a resample
    np.add.at(sums, clusters, on_grid(columns, most))
    drawn = counts @ sums
    total = drawn[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = drawn / total[:, None]
        shares = drawn[:, 3:].reshape(-1, raters, categories)
        if raters == 2:
            expected = (shares[:, 0] * shares[:, 1]).sum(axis=1)
        else:
            expected = (shares.mean(axis=1) ** 2).sum(axis=1)
        # Where chance agreement is 1, all shares are 0 or 1, so that it is exact, and this 0 / 0.
        kappa = (drawn[:, 2] - expected) / (1 - expected)
    return Agreement(drawn[:, 1], kappa)
