"""`image_features.parquet`: one row is the first image of an item, clean or under one dimension."""

import polars as pl

from benchc.image_features import FEATURES
from benchc.schemas.parquet import TableType

# Its footer is ImageFooter, with the digest of the pool's images.
IMAGE_FEATURES = TableType(
    "image features",
    1,
    {
        "id": pl.String,
        "corruption": pl.String,  # `clean` for the reference image
        "severity": pl.Int64,  # 1..3; 0 for clean
        "image_hash": pl.String,  # of the decoded pixels
        **dict.fromkeys(FEATURES, pl.Float64),  # benchc/image_features.py has their units
    },
)
