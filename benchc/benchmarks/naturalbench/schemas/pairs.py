"""`curate/pairs.parquet`: one row is a chosen pair of samples."""

import polars as pl

from benchc.schemas.parquet import TableType

Method = pl.Enum(["mined", "random"])

PAIRS = TableType(
    "pairs",
    1,
    {
        "pair": pl.String,  # 16 hex digits, a hash of a and b
        "a": pl.String,  # id of the sample with image 0: the smaller id
        "b": pl.String,
        "method": Method,
    },
)
