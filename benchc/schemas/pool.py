"""`pool/items.parquet`: one row is an item of the candidate pool, with its task type."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class PoolFooter(Footer):
    """The most items of a task type."""

    cap: int | None


POOL = TableType(
    "pool",
    2,
    {
        "id": pl.String,
        "source": pl.String,
        "task": pl.String,  # the task type by which the pool is balanced
        **{name: dtype for name, dtype in ITEMS.columns.items() if name != "id"},
    },
)
