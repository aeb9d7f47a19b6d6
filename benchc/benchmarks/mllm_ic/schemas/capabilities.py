"""`pool/capabilities.parquet`: one row is an item of the pool with its capability."""

import polars as pl

from benchc.schemas.parquet import TableType

CAPABILITIES = TableType(
    "capabilities",
    1,
    {
        "id": pl.String,
        "capability": pl.String,  # null: its category is kept unmapped, and it is in no mean of capabilities
        "mid": pl.String,  # null as capability
        "high": pl.String,  # null as capability
        "source": pl.String,
        "circular_group": pl.String,  # of a question and its circular copies: the id of the first
        "rotation": pl.Int64,  # of the options: 0 for the original
        "picture": pl.String,  # an image key, one for equal files: items that show one are resampled together
    },
)
