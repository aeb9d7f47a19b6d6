"""`pairs.parquet`, `gallery.parquet`: one row is a reference image and what a dimension made of it.

`pairs` has those of the worked examples, `gallery` one of each dimension at the highest strength.
"""

import polars as pl

from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.schemas.items import IMAGE
from benchc.schemas.parquet import TableType

# Its footer is ImageFooter, with the digest of the pool's images.
PAIRS = TableType(
    "pairs",
    1,
    {
        "id": pl.String,
        "task": pl.Enum(TASKS),
        "corruption": pl.String,
        "severity": pl.Int64,
        "reference": IMAGE,  # the item's first image, reduced for pages
        "distorted": IMAGE,
    },
)
