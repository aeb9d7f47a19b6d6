"""`curate/questions/{round}.parquet`: one row is a question of a pair, or why there is none."""

import polars as pl

from benchc.schemas.parquet import TableType

QUESTIONS = TableType(
    "questions",
    1,
    {
        "pair": pl.String,
        "type": pl.String,  # yes_no | multiple_choice
        "q_idx": pl.Int64,  # 0: image 0 has answer 0; 1: image 0 has answer 1
        "question": pl.String,  # null where the reply was not usable
        "answer_0": pl.String,  # text of option 0: Yes, or that of A; null likewise
        "answer_1": pl.String,
        "ok": pl.Boolean,
        "reason": pl.String,  # why not; null where ok
        "request": pl.String,  # hash of the request
        "template": pl.String,  # hash of the prompt template
    },
)
