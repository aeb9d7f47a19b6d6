"""Estimates of models with intervals as the columns of a frame, and marks of the best ones."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from benchc.statistics.resampling import Floats, percentile_interval
from benchc.statistics.rounding import rounded, tied_series


def estimates(name: str, drawn: Floats) -> dict[str, pl.Series]:
    """Return the columns ``name``, ``{name}_low`` and ``{name}_high`` of float64[1 + draws, rows].

    The ends are of the 95 % percentile interval; null without resamples.
    """
    ends = percentile_interval(drawn[1:]) if len(drawn) > 1 else np.full((2, drawn.shape[1]), np.nan)
    columns = zip(("", "_low", "_high"), (drawn[0], *ends), strict=True)
    return {f"{name}{end}": rounded(values) for end, values in columns}


def frame_of(models: Sequence[str], names: Sequence[str], drawn: Floats) -> pl.DataFrame:
    """Return one row for each model, with the estimates ``names`` of float64[1 + draws, models, names]."""
    columns = {"model": pl.Series(models, dtype=pl.String)}
    for place, name in enumerate(names):
        columns |= estimates(name, drawn[:, :, place])
    return pl.DataFrame(columns)


def is_marked(shown: pl.DataFrame) -> bool:
    """Return whether a cell of a table has a style, in columns whose names end in _style."""
    return any(column.count() for column in shown.select(pl.selectors.ends_with("_style")))


def best_two(values: pl.Series, competes: pl.Series) -> list[str | None]:
    """Return bold for the highest and italic for the second highest of ``values``, several on a tie.

    ``competes``: the rows that are compared; none is marked if their values are equal.
    """
    rank = tied_series(values).set(~competes, None).rank("dense", descending=True)
    distinct = rank.drop_nulls().n_unique()
    marks: Mapping[float, str] = {1: "bold", 2: "italic"} if distinct > 1 else {}
    return [marks.get(place) for place in rank.to_list()]
