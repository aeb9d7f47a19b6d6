"""`page/chosen.parquet`: one row is an item that the results page shows, in the pool's order."""

import polars as pl

from benchc.schemas.parquet import TableType

# Its footer is SampleFooter (subset.py).
PAGE_ITEMS = TableType(
    "page items",
    1,
    {
        "id": pl.String,
        "sample": pl.String,  # items of one sample are shown together; of most benchmarks, the id
    },
)
