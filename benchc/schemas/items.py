"""`sources/{source}.parquet`: one row is an item, a question about images."""

import polars as pl

from benchc.schemas.parquet import TableType

IMAGES = pl.List(pl.Struct({"bytes": pl.Binary, "path": pl.String}))

ITEMS = TableType(
    "items",
    1,
    {
        "id": pl.String,  # source/index
        "question": pl.String,
        "hint": pl.String,  # null where there is none
        "options": pl.List(pl.String),  # in the source's order, at least two
        "answer": pl.Int64,  # 0-based index into options
        "category": pl.String,
        "l2_category": pl.String,
        "images": IMAGES,  # encoded files as published; path is where the source keeps it, or null
    },
)
