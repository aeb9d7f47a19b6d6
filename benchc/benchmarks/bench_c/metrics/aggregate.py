"""Aggregate the scores of single predictions: means over items, then over corruptions.

Sums run in a fixed order (items by id within a corruption and severity), whatever the order of the rows and
the number of threads, so that a table is reproducible to the last digit.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.errors import InputError, recreate

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

CELL = ("corruption", "severity")

# Eq. 1 with accuracy for the metric: -1, 0 or 1.
DELTA_ACCURACY = (pl.col("correct").cast(pl.Float64) - pl.col("correct_clean").cast(pl.Float64)).alias(
    "delta_accuracy"
)


def cell_means(
    scores: pl.DataFrame, values: Sequence[pl.Expr], weights: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Return corruption, severity, items and the mean of every value over the items of that cell.

    ``scores`` is a SCORES table or some of its rows; ``weights`` has the columns id and kappa, for
    Σ κ(q)·Φ(q) / Σ κ(q), the inner fraction of eq. 11; without it the mean is unweighted. Rows are sorted by
    corruption and severity. A cell whose weights are all 0 has null means. Raises ValueError where an item's
    weight is missing or not a finite number >= 0.
    """
    return _grouped(scores, CELL, values, weights)


def overall_means(
    scores: pl.DataFrame, values: Sequence[pl.Expr], weights: pl.DataFrame | None = None
) -> dict[str, float | None]:
    """Return eq. 11 for every value by its name: the mean of :func:`cell_means` over all cells.

    Unweighted means where ``weights`` is None; None where there is no cell, or one without a mean.
    """
    cells = cell_means(scores, values, weights)
    names = cells.columns[len(CELL) + 1 :]
    return {name: _mean(cells[name]) for name in names}


def clean_means(scores: pl.DataFrame, weights: pl.DataFrame | None = None) -> dict[str, float | None]:
    """Return acc_clean, entropy_clean and calibration_clean, the means over items of the clean predictions.

    Unweighted or, with ``weights``, weighted by kappa; None where there are no items.
    """
    # Every row of an item repeats its clean values, so one row per item is enough: that of its first cell,
    # which is the same for all items unless some have no prediction under it.
    items = scores
    for key in CELL:
        items = items.filter(pl.col(key) == pl.col(key).min())
    if items.height != scores["id"].n_unique():
        items = scores[_order(scores, ("id", *CELL))].unique("id", keep="first")
    values = [
        pl.col("correct_clean").cast(pl.Float64).alias("acc_clean"),
        (pl.col("entropy") - pl.col("delta_entropy")).clip(0, 1).alias("entropy_clean"),
        (pl.col("calibration") - pl.col("delta_calibration")).clip(0, 1).alias("calibration_clean"),
    ]
    means = _grouped(items.with_columns(all=0), ("all",), values, weights)
    names = [value.meta.output_name() for value in values]
    return {name: means[name][0] if means.height else None for name in names}


def destructive(scores: pl.DataFrame) -> pl.DataFrame:
    """Return corruption, items, ras: unweighted mean RAS over items answered right when clean (RR and RW).

    One row per corruption of ``scores``, sorted; ``ras`` is null where there is no such item (section 6.4).
    """
    return _robustness(scores, pl.col("correct_clean"))


def corrective(scores: pl.DataFrame) -> pl.DataFrame:
    """Return corruption, items, ras: unweighted mean RAS over items answered wrong when clean (WW and WR)."""
    return _robustness(scores, ~pl.col("correct_clean"))


def _robustness(scores: pl.DataFrame, subset: pl.Expr) -> pl.DataFrame:
    means = _grouped(scores.filter(subset), ("corruption",), [pl.col("ras")], None)
    corruptions = scores.select("corruption").unique().sort("corruption")
    return corruptions.join(means, on="corruption", how="left", maintain_order="left").with_columns(
        pl.col("items").fill_null(0)
    )


def _grouped(
    scores: pl.DataFrame, keys: Sequence[str], values: Sequence[pl.Expr], weights: pl.DataFrame | None
) -> pl.DataFrame:
    """Return the keys, the number of items and the means of every group, sorted by the keys."""
    wanted = dict.fromkeys((*keys, "id", *(name for value in values for name in value.meta.root_names())))
    rows = scores.select(*wanted)[_order(scores, tuple(dict.fromkeys((*keys, "id", *CELL))))]
    # After the sort a group is one run of rows, and so is an item in it.
    group, item = (_runs(rows, columns) for columns in (keys, (*keys, "id")))
    first = np.diff(group, prepend=-1) > 0
    means = rows[np.flatnonzero(first)].select(*keys)
    items = np.bincount(group[np.diff(item, prepend=-1) > 0], minlength=means.height)
    means = means.with_columns(items=pl.Series(items, dtype=pl.Int64))
    weight = _weights(rows["id"], weights)
    # bincount adds one row after the other, so no digit depends on threads or vector width.
    total = np.bincount(group, weights=weight, minlength=means.height)
    for value in values:
        column = rows.select(value.cast(pl.Float64)).to_series()
        if column.null_count() or column.is_nan().any():
            raise InputError(f"{column.name} is missing or NaN in some scores; {recreate('scores')}")
        sums = np.bincount(group, weights=weight * column.to_numpy(), minlength=means.height)
        mean = np.divide(sums, total, out=np.full(means.height, np.nan), where=total > 0)
        means = means.with_columns(pl.Series(column.name, mean).fill_nan(None))
    return means


def _order(scores: pl.DataFrame, keys: Sequence[str]) -> Integers:
    """Return the rows of ``scores`` in the order of ``keys``; integer codes sort faster than strings."""
    code = np.zeros(scores.height, dtype=np.int64)
    for key in keys:
        values = scores[key].unique().sort()
        if values.dtype == pl.String:
            numbers = scores[key].cast(pl.Enum(values)).to_physical()
        else:
            numbers = values.search_sorted(scores[key])
        code = code * len(values) + numbers.to_numpy()
    return np.argsort(code, kind="stable")


def _runs(rows: pl.DataFrame, keys: Sequence[str]) -> Integers:
    """Return the number of the run of equal ``keys`` that each row is in."""
    number: Integers = rows.select(pl.struct(keys).rle_id().cast(pl.Int64)).to_series().to_numpy()
    return number


def _weights(ids: pl.Series, weights: pl.DataFrame | None) -> Floats:
    if weights is None:
        return np.ones(len(ids))
    joined = pl.DataFrame({"id": ids}).join(
        weights.select("id", "kappa"), on="id", how="left", maintain_order="left", validate="m:1"
    )
    bad = joined.filter(~(pl.col("kappa").is_finite() & (pl.col("kappa") >= 0)).fill_null(False))
    if bad.height:
        raise ValueError(
            f"item {bad['id'][0]} has the weight {bad['kappa'][0]}, not a finite number >= 0 "
            f"({bad['id'].n_unique()} such items): scores and selection are from different runs"
        )
    return joined["kappa"].to_numpy()


def _mean(values: pl.Series) -> float | None:
    if values.is_empty() or values.null_count():
        return None
    return math.fsum(values) / len(values)
