"""`selection/selected.parquet`: one row is an item of the pool and its rank and score in greedy selection."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class SelectedFooter(Footer):
    """The weights of eq. 3, and the score that must be above the mean."""

    alpha_kappa: float
    alpha_diversity: float
    score: str


SELECTED = TableType(
    "selected",
    1,
    {
        "id": pl.String,
        "kappa": pl.Float64,
        "rank": pl.Int64,  # 0-based order of picking; null where kappa is 0
        "score": pl.Float64,  # final score: the bracket of eq. 3 at the pick or at the end; null likewise
        "selected": pl.Boolean,  # score above the mean of all scores: the item is in the benchmark
    },
)
