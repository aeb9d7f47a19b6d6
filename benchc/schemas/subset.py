"""`subsets/{subset}.parquet`: the ids of some items of the pool, in pool order."""

import polars as pl

from benchc.schemas.parquet import TableType

SUBSET = TableType("subset", 1, {"id": pl.String})
