"""Rank correlations of columns and principal components of rows: numpy in, numpy out."""

from typing import NamedTuple

import numpy as np
import polars as pl

from benchc.statistics.resampling import Floats


class Components(NamedTuple):
    """Principal components of rows.

    Args:
        scores: float64[rows, 2], the rows on the first two components.
        shares: float64[2], their shares of the variance, in [0, 1].
    """

    scores: Floats
    shares: Floats


def spearman(values: Floats) -> Floats:
    """Return Spearman's rank correlation of each two columns, float64[columns, columns], in [-1, 1].

    ``values``: float64[rows, columns]; ties have their mean rank. NaN where a column is constant or has
    NaN.
    """
    ranks = np.column_stack([pl.Series(column).rank("average").to_numpy() for column in values.T])
    ranks[:, np.isnan(values).any(axis=0)] = np.nan
    centred = ranks - ranks.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = centred.T @ centred / np.outer(length, length)
    return np.asarray(np.clip(found, -1, 1))


def components(values: Floats) -> Components:
    """Return the first two principal components of the rows of float64[rows, columns], both at least two.

    Columns are centred and not scaled. Of each component, the loading of largest magnitude is positive, the
    first of equal ones. Rows that are all equal are at the origin, with shares of 0.
    """
    left, lengths, loadings = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    signs = np.sign(loadings[np.arange(len(loadings)), np.abs(loadings).argmax(axis=1)])
    scores = left * lengths * signs
    total = float((lengths**2).sum())
    shares = lengths**2 / total if total > 0 else np.zeros_like(lengths)
    return Components(scores[:, :2], shares[:2])
