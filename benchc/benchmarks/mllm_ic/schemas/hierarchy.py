"""`hierarchy/features.parquet` and `hierarchy/tsne.parquet`: one row is a scenario."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType

FEATURES = TableType(
    "scenario features",
    1,
    {
        "corruption": pl.String,  # `clean` for uncorrupted pictures
        "severity": pl.Int64,  # 1..5; 0 for clean
        "feature": pl.List(pl.Float64),  # mean over the pictures
    },
)
TSNE = TableType(
    "scenario map",
    1,
    {
        "corruption": pl.String,
        "category": pl.String,  # of the corruption; null for clean
        "level": pl.String,  # of the category; null for clean
        "severity": pl.Int64,
        "x": pl.Float64,
        "y": pl.Float64,
    },
)


@dataclass(frozen=True, kw_only=True)
class HierarchyFooter(Footer):
    """Of both tables.

    Attributes:
        network: which has the features
        pictures: how many, and of what
        missing: why the table is empty; absent where it is not
    """

    network: str
    pictures: str
    missing: str = ""
