"""`selection/kappa.parquet`: one row is an item of the pool and the selectors' inconsistency on it."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class KappaFooter(Footer):
    """What kappa was computed over, in this order."""

    selectors: list[str]
    corruptions: list[str]
    severities: list[int]


KAPPA = TableType(
    "kappa",
    1,
    {
        "id": pl.String,
        "kappa": pl.Float64,  # eq. 5, in [0, 1]
        # Its parts: eq. 4 of every (selector, corruption), selectors outermost, in the configured order.
        "gini": pl.List(pl.Struct({"selector": pl.String, "corruption": pl.String, "gini": pl.Float64})),
    },
)
