"""`pool/tags.parquet`: one row is a skill that an item needs."""

import polars as pl

from benchc.schemas.parquet import TableType

TAGS = TableType("tags", 1, {"id": pl.String, "skill": pl.String})
