"""`{corrupted,benchmark}/{corruption}.parquet`: one row is an image under the corruption at one severity."""

import polars as pl

from benchc.schemas.items import IMAGE
from benchc.schemas.parquet import TableType

CORRUPTED = TableType(
    "corrupted",
    2,
    {
        "image_key": pl.String,  # as in the pool; an image that several items share has one row per severity
        "severity": pl.Int64,  # 1..5; 0 in `clean.parquet`
        "image": IMAGE,  # lossless
    },
)
