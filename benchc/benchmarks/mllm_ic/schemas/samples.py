"""`samples.parquet`: one row is a question's picture in a scenario, small, as the cube explorer shows it."""

import polars as pl

from benchc.schemas.items import IMAGE
from benchc.schemas.parquet import TableType

# Its footer is ImageFooter, with the digest of the pool's images.
SAMPLES = TableType(
    "samples",
    1,
    {
        "id": pl.String,
        "corruption": pl.String,  # `clean` for the uncorrupted picture, of each id once
        "severity": pl.Int64,  # 1..5; 0 for clean
        "picture": IMAGE,
    },
)
