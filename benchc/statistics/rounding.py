"""Rounding of aggregates."""

import numpy as np
import numpy.typing as npt
import polars as pl

DIGITS = 9  # equal means may differ by rounding errors of their sums


def tied(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return ``values``, float64[..., things], those that agree to ``DIGITS`` decimals as the first of them.

    Rounded themselves, equal means that differ by rounding errors of their sums could differ in the last
    decimal. NaN and infinite values stay.
    """
    found = values
    with np.errstate(invalid="ignore"):  # the difference of two infinite values
        for place in reversed(range(values.shape[-1])):
            one = values[..., place, None]
            found = np.where(np.round(values - one, DIGITS) == 0, one, found)
    return found


def tied_series(values: pl.Series) -> pl.Series:
    """Return numbers as :func:`tied`, Float64; null stays, and NaN becomes null."""
    return pl.Series(values.name, tied(values.cast(pl.Float64).to_numpy()), nan_to_null=True)


def rounded(values: npt.NDArray[np.float64]) -> pl.Series:
    """Return ``values``, float64[n], with ``DIGITS`` decimals; NaN becomes null, -0.0 is 0.0."""
    return pl.Series(np.round(values, DIGITS) + 0.0).fill_nan(None)
