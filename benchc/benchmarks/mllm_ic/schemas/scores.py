"""`scores/{model}.parquet`: one row is a scenario of a capability."""

import polars as pl

from benchc.schemas.parquet import TableType

# Its footer is OutcomesFooter (outcomes.py).
SCORES = TableType(
    "capability scores",
    1,
    {
        "corruption": pl.String,  # `clean` for uncorrupted images
        "severity": pl.Int64,  # 1..5; 0 for clean
        "capability": pl.String,
        "n": pl.Int64,  # questions
        "correct": pl.Int64,
        "refused": pl.Int64,  # answers that choose no option; wrong
        "unparsed": pl.Int64,  # answers in words that name no option; wrong
        "ties": pl.Int64,  # predictions whose highest options are equal: the first one is taken
    },
)
