"""Do two models swap ranks when ranked by one metric instead of another? A test for every pair.

A pair is ordered oppositely where its paired differences in the two metrics have opposite signs; it counts as
a swap where this is significant. Both signs must hold, so the p value of one direction is the larger of two
one-sided bootstrap p values (intersection-union test, Berger 1982), each (1 + draws in which the difference
does not have its sign) divided by (1 + draws). The direction is chosen by the data, so the smaller p of the
two directions is doubled. Holm's method adjusts over all pairs of models.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from benchc.statistics.resampling import Floats, percentile_interval
from benchc.statistics.rounding import DIGITS, rounded

LEVEL = 0.05
PARTS = ("a", "b", "difference", "low", "high")


def columns_of(metrics: Sequence[str]) -> dict[str, type[pl.DataType]]:
    """Return the columns of :func:`swap_table` for two metrics, with their types."""
    return {
        "model_a": pl.String,
        "model_b": pl.String,
        # Values of a and b, a minus b, and its 95 % percentile interval; null where undefined.
        **{f"{metric}_{part}": pl.Float64 for metric in metrics for part in PARTS},
        "opposite": pl.Boolean,  # the differences have opposite signs; null where one is undefined
        "p": pl.Float64,  # in (0, 1]; null where it is undefined
        "p_holm": pl.Float64,  # over all pairs with a p
        "swap": pl.Boolean,  # p_holm <= 0.05; null where p is
        "note": pl.String,  # why numbers are undefined; null otherwise
    }


def swap_table(
    models: Sequence[str], drawn: Sequence[Floats], metrics: Sequence[str], note: str | None = None
) -> pl.DataFrame:
    """Return one row per pair of models, in their order, with :func:`columns_of` the two ``metrics``.

    ``drawn``: of each model float64[1 + draws, 2], its metrics in the sample itself and in each resample,
    which all models share; ``note``: why there is no interval and no p, None where there are. No row for one
    model.
    """
    columns = columns_of(metrics)
    numbers = [f"{metric}_{part}" for metric in metrics for part in PARTS]
    rows = []
    for a, b in combinations(range(len(models)), 2):
        differences = drawn[a] - drawn[b]
        compared = np.round(differences, DIGITS)
        values = np.stack([drawn[a][0], drawn[b][0], differences[0], *percentile_interval(differences[1:])])
        opposite = None if np.isnan(compared[0]).any() else bool(np.prod(np.sign(compared[0])) < 0)
        p = swap_p(compared[1:])
        if note is not None:
            values[3:], p = np.nan, None
        rows.append(
            {
                "model_a": models[a],
                "model_b": models[b],
                **dict(zip(numbers, rounded(values.T.ravel()), strict=True)),
                "opposite": opposite,
                "p": p,
                "note": note,
            }
        )
    table = pl.DataFrame(rows, schema_overrides=columns) if rows else pl.DataFrame(schema=columns)
    adjusted = holm(table["p"])
    return table.with_columns(p_holm=adjusted, swap=adjusted <= LEVEL).select(*columns)


def swap_p(differences: Floats) -> float | None:
    """Return the p value, in (0, 1], of two differences' opposite signs; ``differences``: float64[draws, 2].

    Draws with a NaN are excluded; None where there is no other.
    """
    differences = differences[~np.isnan(differences).any(axis=1)]
    draws = len(differences)
    if not draws:
        return None
    not_above = (1 + (differences <= 0).sum(axis=0)) / (draws + 1)
    not_below = (1 + (differences >= 0).sum(axis=0)) / (draws + 1)
    one_sided = min(max(not_above[0], not_below[1]), max(not_below[0], not_above[1]))
    return min(1.0, 2 * float(one_sided))


def holm(p_values: pl.Series) -> pl.Series:
    """Return Holm's adjusted p values (1979), Float64 in [0, 1]; a null stays and counts as no test."""
    order = p_values.arg_sort(nulls_last=True)
    tests = len(p_values) - p_values.null_count()
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for index, row in enumerate(order.head(tests)):
        largest = max(largest, min(1.0, (tests - index) * p_values[row]))
        adjusted[row] = largest
    return pl.Series(p_values.name, adjusted, dtype=pl.Float64)
