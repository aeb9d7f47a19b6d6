"""Bootstrap intervals of every aggregate and of every rank of Table 1.

Items are resampled with the predictions of all models. The intervals are conditional on the selected set:
they show how far other items of the same kind could move a number, not what another selection, other
corruption seeds or other training runs would change.
"""

from collections.abc import Container, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.bench_c.metrics.cube import CLEAN_METRICS, SHIFT_METRICS, Cube
from benchc.benchmarks.bench_c.metrics.table1 import RANKED
from benchc.statistics.resampling import drawn_means, item_counts, on_grid, percentile_interval
from benchc.statistics.rounding import rounded, tied

Floats = npt.NDArray[np.float64]

DRAWS = 2_000
PLAIN, KAPPA = "unweighted", "kappa"

INTERVALS = {
    "model": pl.String,
    "corruption": pl.String,  # null: mean over all corruptions
    "severity": pl.Int64,  # null: mean over all severities
    "metric": pl.String,  # a column of Table 1, destructive, corrective
    "weighting": pl.String,  # unweighted, or kappa as in eq. 11
    "items": pl.Int64,  # with a weight > 0; destructive: answered right when clean; corrective: wrong
    "estimate": pl.Float64,  # null where undefined
    "low": pl.Float64,  # 95 % percentile interval; null where undefined
    "high": pl.Float64,
    "note": pl.String,  # why a number is undefined, or in how many draws; null otherwise
}


class Column(NamedTuple):
    """The key of an aggregate of one model."""

    corruption: str | None
    severity: int | None
    metric: str
    weighting: str


class Block(NamedTuple):
    """Aggregates of one model: the mean of column j is Σ sums[:, j] / Σ weights[:, j] over drawn items."""

    columns: list[Column]
    sums: Floats  # [items, columns], on a grid
    weights: Floats  # [items] or [items, columns], on a grid


def bootstrap(
    cube: Cube, kappa: Floats, draws: int = DRAWS, seed: int = 0, ranked: Container[str] | None = None
) -> pl.DataFrame:
    """Return every aggregate of every model with its 95 % percentile interval, columns as ``INTERVALS``.

    ``kappa``: float64[items], as from ``cube.kappa``. For each model, in order: Table 1's columns, unweighted
    and weighted by kappa (eq. 11), and the ranks of ΔAcc and RAS in both forms; overall and per corruption,
    unweighted means of the shifts and of RAS over the items answered right (destructive) and wrong
    (corrective) when clean (section 6.4); per corruption and severity, unweighted means of the shifts. Shifts
    are in [-1, 1], RAS in [-2, 1], ranks in 1..models. Draws in which a mean is undefined are excluded from
    its interval and counted; one item gives no interval. ``ranked``: the models that have ranks, all others
    null; None for all. Raises ValueError where ``draws`` is not positive.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    counts = item_counts(len(cube.items), draws, seed)
    parts = []
    drawn_of_ranked: dict[tuple[str, str], list[Floats]] = {
        (metric, weighting): [] for metric in RANKED for weighting in (PLAIN, KAPPA)
    }
    for number, model in enumerate(cube.models):
        for block in aggregates(cube, number, kappa):
            drawn = drawn_means(counts, block.sums, block.weights)
            items = (block.weights > 0).sum(axis=0)
            parts.append(interval_rows(model, block.columns, drawn, items))
            for index, column in enumerate(block.columns):
                if column.corruption is None and column.metric in RANKED:
                    drawn_of_ranked[column.metric, column.weighting].append(drawn[:, index])
    with_rank = [ranked is None or model in ranked for model in cube.models]
    for (metric, weighting), values in drawn_of_ranked.items():
        ranks = np.full((draws + 1, len(values)), np.nan)
        ranks[:, with_rank] = ranks_of(tied(np.column_stack(values)[:, with_rank]))
        items = (kappa > 0).sum() if weighting == KAPPA else len(cube.items)
        column = Column(None, None, f"rank_{metric}", weighting)
        for number, model in enumerate(cube.models):
            rows = interval_rows(model, [column], ranks[:, [number]], items, whole=True)
            if not with_rank[number]:
                rows = rows.with_columns(note=pl.lit("undefined: the model is not ranked"))
            elif sum(with_rank) == 1:
                none, note = pl.lit(None, pl.Float64), pl.lit("interval undefined: one model is ranked")
                rows = rows.with_columns(none.alias("low"), none.alias("high"), note=note)
            parts.append(rows)
    # The ranks of a model follow its other rows of Table 1.
    order = pl.DataFrame({"model": cube.models}).with_row_index("model_index")
    table = pl.concat(parts).join(order, on="model", maintain_order="left")
    keys = ["model_index", pl.col("corruption").is_not_null(), pl.col("severity").is_not_null()]
    return table.sort(keys, maintain_order=True).select(*INTERVALS)


def ranks_of(values: Floats) -> Floats:
    """Return the rank of every model in every draw, float64[draws, models]: 1 for the largest.

    Ties share the smaller rank, as in Table 1; a draw with a NaN has no ranks (NaN).
    """
    larger = np.zeros_like(values)
    for other in range(values.shape[1]):
        larger += values[:, [other]] > values
    return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, larger + 1)


def shift_sums(cube: Cube, model: int, kappa: Floats) -> tuple[Floats, Floats]:
    """Return Σ over cells of kappa times each shift, float64[items, SHIFT_METRICS], and kappa times cells.

    The ratio of their sums is eq. 11, since all cells have the same items and hence the same weights.
    """
    cells = len(cube.corruptions) * len(cube.severities)
    terms = len(cube.items) * cells
    sums = [
        on_grid(cube.shifts[name][model] * kappa[:, None, None], terms).sum(axis=(1, 2))
        for name in SHIFT_METRICS
    ]
    return np.column_stack(sums), on_grid(kappa, terms) * cells


def aggregates(cube: Cube, model: int, kappa: Floats) -> Iterator[Block]:
    """Yield every aggregate of :func:`bootstrap` except ranks, for the model at index ``model``."""
    items, corruptions, severities = len(cube.items), cube.corruptions, cube.severities
    ones = np.ones(items)
    for weighting, weights in ((PLAIN, ones), (KAPPA, kappa)):
        clean = np.column_stack([on_grid(cube.clean[name][model] * weights, items) for name in CLEAN_METRICS])
        columns = [Column(None, None, name, weighting) for name in CLEAN_METRICS]
        yield Block(columns, clean, on_grid(weights, items))
        columns = [Column(None, None, name, weighting) for name in SHIFT_METRICS]
        yield Block(columns, *shift_sums(cube, model, weights))

    terms = items * len(corruptions) * len(severities)
    shifts = {name: on_grid(cube.shifts[name][model], terms) for name in SHIFT_METRICS}
    right = cube.clean["acc_clean"][model]
    of_corruption = shifts["ras"].sum(axis=2)
    for metric, subset in (("destructive", right), ("corrective", 1 - right)):
        sums = np.column_stack([of_corruption.sum(axis=1), of_corruption]) * subset[:, None]
        cells = len(severities) * np.array([len(corruptions), *(1 for _ in corruptions)], dtype=np.float64)
        columns = [Column(name, None, metric, PLAIN) for name in (None, *corruptions)]
        yield Block(columns, sums, subset[:, None] * cells)
    for metric, values in shifts.items():
        columns = [Column(name, None, metric, PLAIN) for name in corruptions]
        yield Block(columns, values.sum(axis=2), ones * len(severities))
        columns = [Column(name, severity, metric, PLAIN) for name in corruptions for severity in severities]
        yield Block(columns, values.reshape(items, -1), ones)


def interval_rows(
    model: str, columns: list[Column], drawn: Floats, items: npt.ArrayLike, *, whole: bool = False
) -> pl.DataFrame:
    """Return one row of ``INTERVALS`` per column of ``drawn``, float64[1 + draws, columns], estimates first.

    ``items``: the number of items with a weight, one for all or int[columns]. ``whole``: values are integers.
    """
    estimate, draws = drawn[0], drawn[1:]
    items = np.broadcast_to(np.asarray(items, dtype=np.int64), estimate.shape)
    low, high = percentile_interval(draws, interpolate=not whole)
    undefined = np.isnan(draws).sum(axis=0)
    known = ~np.isnan(estimate)
    single = items < 2
    low, high = (np.where(known & ~single, end, np.nan) for end in (low, high))
    notes = [
        _note(bool(is_known), int(count), int(missing), len(draws))
        for is_known, count, missing in zip(known, items, undefined, strict=True)
    ]
    return pl.DataFrame(
        {
            "model": [model] * len(columns),
            **{name: [column[index] for column in columns] for index, name in enumerate(Column._fields)},
            "items": items,
            **{name: rounded(end) for name, end in (("estimate", estimate), ("low", low), ("high", high))},
            "note": notes,
        },
        schema=INTERVALS,
    )


def _note(known: bool, items: int, undefined: int, draws: int) -> str | None:
    if not known:
        return "undefined: no item has a weight"
    if items == 1:
        return "interval undefined: one item"
    return f"{undefined} of {draws} draws undefined and excluded" if undefined else None
