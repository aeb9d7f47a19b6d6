"""`grades/{subset}/{model}.parquet`: one row is one free answer of one model, graded by reference answers."""

import polars as pl

from benchc.finish import FINISHES
from benchc.schemas.parquet import TableType

# Its footer is JudgedFooter (answers.py).
GRADES = TableType(
    "grades",
    2,
    {
        "id": pl.String,
        "corruption": pl.String,  # `clean` for the uncorrupted answer
        "severity": pl.Int64,  # 1..5; 0 for clean
        "reply": pl.String,  # as it was graded; may be empty
        "exact": pl.Boolean,  # whether the reply is the reference answer, letter by letter
        "normalised": pl.Boolean,  # the same by the VQA evaluator's rules (benchc/judges/short_answer.py)
        "soft": pl.Float64,  # accuracy by the answers of several annotators, in [0, 1]; null without these
        "finish": pl.Enum(FINISHES),  # of the answer; null where it was not made by this run
        "empty": pl.Boolean,  # whether the reply is empty, which is wrong
    },
)
