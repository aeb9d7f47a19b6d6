"""`selection/embeddings.parquet`: one row is an item of the pool with its image and text embeddings."""

import polars as pl

from benchc.schemas.parquet import TableType

EMBEDDINGS = TableType(
    "embeddings",
    1,
    {
        "id": pl.String,
        "image": pl.List(pl.Float32),  # unit length: mean of the images' unit vectors, normalised again
        "text": pl.List(pl.Float32),  # unit length
        "truncated": pl.Boolean,  # the text exceeded the encoder's input length
    },
)
