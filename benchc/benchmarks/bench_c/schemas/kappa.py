"""`selection/kappa.parquet`: one row is an item of the pool and the selectors' inconsistency on it."""

import polars as pl

from benchc.schemas.parquet import TableType

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
