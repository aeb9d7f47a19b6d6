"""`judgements/{subset}/{model}.parquet`: one row is the option that a generated answer chooses, if any."""

import polars as pl

from benchc.finish import FINISHES
from benchc.schemas.answer_states import STATUSES
from benchc.schemas.parquet import TableType

# Its footer is JudgedFooter (answers.py).
JUDGEMENTS = TableType(
    "judgements",
    1,
    {
        "id": pl.String,
        "corruption": pl.String,  # `clean` for the uncorrupted answer
        "severity": pl.Int64,  # 1..5; 0 for clean
        "option": pl.Int64,  # 0-based; null where the answer chooses none
        "status": pl.Enum(STATUSES),  # how it was found, or why not (benchc/judges/option_reply.py)
        "finish": pl.Enum(FINISHES),  # of the answer
    },
)
