"""`pool/references.parquet`: one row is the reference answers of an item of the pool."""

import polars as pl

from benchc.schemas.parquet import TableType

# Its footer is ImageFooter, with the digest of the pool's questions alone.
REFERENCES = TableType(
    "references",
    1,
    {
        "id": pl.String,
        "truth": pl.String,  # the reference answer: of an item with options, the text of the right one
        "answers": pl.List(pl.String),  # of several annotators; empty where the source has one answer alone
    },
)
