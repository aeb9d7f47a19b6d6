"""`subsets/{subset}.parquet`: the ids of some items of the pool, in pool order."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class SampleFooter(Footer):
    """Of a sample: from how many items it was taken."""

    candidates: int


SUBSET = TableType("subset", 1, {"id": pl.String})
