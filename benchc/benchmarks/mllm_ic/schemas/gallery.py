"""`gallery.parquet`: one row is the same image under a corruption at a severity; the first is clean."""

import polars as pl

from benchc.schemas.items import IMAGE
from benchc.schemas.parquet import TableType

# Its footer is ImageFooter, with the digest of the pool's images.
GALLERY = TableType(
    "gallery",
    1,
    {
        "key": pl.String,  # of the image, the same in all rows
        "corruption": pl.String,  # `clean` for the image itself
        "severity": pl.Int64,  # 0 for clean
        "image": IMAGE,  # reduced for print and pages
    },
)
