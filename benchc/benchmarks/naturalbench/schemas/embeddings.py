"""`curate/embeddings/{encoder}.parquet`: one row is a sample with the embeddings of its image and caption."""

import polars as pl

from benchc.schemas.parquet import TableType

# Footer: encoder, and queries: how many vectors of an image follow each other (1; BLIP-2 has one a query).
EMBEDDINGS = TableType(
    "caption embeddings",
    1,
    {
        "id": pl.String,
        "image": pl.List(pl.Float32),  # queries vectors of unit length, one after another
        "text": pl.List(pl.Float32),  # unit length
        "truncated": pl.Boolean,  # the caption exceeded the encoder's input length
    },
)
