"""Means, correlations and number formats of the checks."""

import math
from collections.abc import Iterable

import numpy as np
import polars as pl
from scipy import stats

# Of fewer models a rank correlation has few values, and chance gives each of them often: of four models, 24
# equally likely orders give 11, and one order in 24 the highest.
LEAST_MODELS = 5
ROUNDING = 1e-12  # smaller differences of values in [0, 1] are rounding errors


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean, summed exactly so that the order of rows does not matter; None without values."""
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def means_by(table: pl.DataFrame, key: str, value: str) -> dict[str, float]:
    """Return the mean of ``value`` for every value of ``key``, in the order of appearance."""
    found = {}
    for (name,), rows in table.group_by(key, maintain_order=True):
        average = mean(rows[value])
        if average is not None:
            found[str(name)] = average
    return found


def spearman(a: pl.Series, b: pl.Series) -> float | None:
    """Return Spearman's rank correlation, in [-1, 1]; None for fewer than two rows or a constant column."""
    if len(a) < 2 or a.n_unique() < 2 or b.n_unique() < 2:
        return None
    return float(stats.spearmanr(a.to_numpy(), b.to_numpy()).statistic)


def skewness(values: pl.Series) -> float | None:
    """Return the population skewness of values in [0, 1]; None for fewer than three or equal values."""
    numbers = np.sort(values.to_numpy())
    if len(numbers) < 3 or np.ptp(numbers) < ROUNDING:
        return None
    return float(stats.skew(numbers))


def signed(value: float) -> str:
    """Return a shift with three decimals and its sign."""
    return f"{round(value, 3) + 0.0:+.3f}"


def percent(share: float) -> str:
    """Return a share with one decimal: 21.2 %."""
    return f"{100 * share:.1f} %"


def listed(values: dict[str, float]) -> str:
    """Return names with their shifts: "blur -0.110, noise -0.090"."""
    return ", ".join(f"{name.replace('_', ' ')} {signed(value)}" for name, value in values.items())
