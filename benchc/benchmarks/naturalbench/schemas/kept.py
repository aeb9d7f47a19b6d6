"""`curate/kept/{round}.parquet`: one row is a question of a round, and whether people kept it."""

import polars as pl

from benchc.schemas.parquet import TableType

KEPT = TableType(
    "kept questions",
    1,
    {
        "pair": pl.String,
        "type": pl.String,
        "q_idx": pl.Int64,
        "kept": pl.Boolean,
        "reason": pl.String,  # no_question, disagreement, unanswerable or wrong_answer; null where kept
    },
)
