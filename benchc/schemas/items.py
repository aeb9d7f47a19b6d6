"""`sources/{source}.parquet`: one row is an item, a question about images."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType

IMAGE = pl.Struct({"bytes": pl.Binary, "path": pl.String})


@dataclass(frozen=True, kw_only=True)
class ItemsFooter(Footer):
    """The id of the source."""

    source: str


ITEMS = TableType(
    "items",
    2,
    {
        "id": pl.String,  # source/index; of VQAv2, source/question id
        "question": pl.String,
        "hint": pl.String,  # null where the item has none
        "options": pl.List(
            pl.String
        ),  # in the source's order, at least two; empty for an open-ended question
        "answer": pl.Int64,  # 0-based index into options; null for an open-ended question
        "category": pl.String,
        "l2_category": pl.String,
        "images": pl.List(IMAGE),  # encoded files as published; path is that in the source, or null
        "image_keys": pl.List(pl.String),  # one per image: `id#0`, ..., `source://name` or `sha256://digest`
    },
)
