"""Images that another program corrupted: one row is an item's image under one corruption at one severity."""

import polars as pl

from benchc.schemas.items import IMAGE
from benchc.schemas.parquet import TableType

IMPORTED_IMAGES = TableType(
    "imported images",
    1,
    {
        "id": pl.String,  # of the item: source/index
        "corruption": pl.String,
        "severity": pl.Int64,
        "image": IMAGE,  # encoded file as published; path is its name, or null
    },
)
