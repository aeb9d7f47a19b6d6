"""`answers/{subset}/{model}/{part}.parquet`: one row is one generated answer of one model."""

import polars as pl

from benchc.models.protocol import FINISHES
from benchc.schemas.parquet import TableType

# Footer: as that of PREDICTIONS, with answers in place of predictions.
ANSWERS = TableType(
    "answers",
    1,
    {
        "id": pl.String,
        "corruption": pl.String,  # `clean` for the uncorrupted answer
        "severity": pl.Int64,  # 1..5; 0 for clean
        "reply": pl.String,  # without special tokens and surrounding white space; may be empty
        "finish": pl.Enum(FINISHES),
        "n_tokens": pl.Int64,  # generated ones; the one that ends the answer counts
        "prompt_hash": pl.String,  # of the rendered prompt
        "image_hash": pl.String,  # of the decoded pixels of all images
    },
)
