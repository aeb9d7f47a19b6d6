"""`corrupted/{corruption}.parquet`: one row is an item under one severity of the corruption."""

import polars as pl

from benchc.schemas.items import IMAGES
from benchc.schemas.parquet import TableType

CORRUPTED = TableType(
    "corrupted",
    1,
    {
        "id": pl.String,
        "severity": pl.Int64,  # 1..5; 0 in `clean.parquet`
        "images": IMAGES,  # lossless; every image of the item
    },
)
