"""`selection/unselected.parquet`: one row is an item outside the benchmark that targets read all the same."""

import polars as pl

from benchc.schemas.parquet import TableType

# Footer: candidates, how many items of the pool were not selected.
UNSELECTED = TableType(
    "unselected",
    1,
    {
        "id": pl.String,
        "kappa": pl.Float64,
    },
)
