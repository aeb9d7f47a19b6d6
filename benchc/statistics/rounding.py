"""Rounding of aggregates."""

import numpy as np
import numpy.typing as npt
import polars as pl

DIGITS = 9  # equal means may differ by rounding errors of their sums


def rounded(values: npt.NDArray[np.float64]) -> pl.Series:
    """Return ``values``, float64[n], with ``DIGITS`` decimals; NaN becomes null, -0.0 is 0.0."""
    return pl.Series(np.round(values, DIGITS) + 0.0).fill_nan(None)
