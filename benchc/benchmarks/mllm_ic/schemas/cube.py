"""`tables/ic_cube.parquet`: one row is a scenario of a capability of a model, with its interval."""

import polars as pl

from benchc.schemas.parquet import TableType

CUBE = TableType(
    "capability cube",
    1,
    {
        "model": pl.String,  # its label
        "corruption": pl.String,  # `clean` for uncorrupted images
        "category": pl.String,  # of the corruption; null for clean
        "level": pl.String,  # of the category: global, regional or pixel; null for clean
        "severity": pl.Int64,  # 1..5; 0 for clean
        "capability": pl.String,
        "mid": pl.String,
        "high": pl.String,
        "accuracy": pl.Float64,  # share of right answers, over questions, in [0, 1]
        "n": pl.Int64,  # questions
        "low": pl.Float64,  # 95 % interval over pictures
        "high_end": pl.Float64,
    },
)
