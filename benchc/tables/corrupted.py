"""`corrupted/{corruption}.parquet`: one row is an item under one severity of the corruption."""

import polars as pl

from benchc.tables.items import IMAGES
from benchc.tables.parquet import TableType

CORRUPTED = TableType(
    "corrupted",
    1,
    {
        "id": pl.String,
        "severity": pl.Int64,  # 1..5; 0 in `clean.parquet`
        "images": IMAGES,  # lossless; every image of the item
    },
)
