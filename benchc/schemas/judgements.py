"""`judgements/{subset}/{model}.parquet`: one row is the option that a generated answer chooses, if any."""

from typing import get_args

import polars as pl

from benchc.judges.option_reply import Status
from benchc.models.protocol import FINISHES
from benchc.schemas.parquet import TableType

STATUSES: tuple[str, ...] = get_args(Status)

# Footer: label, the id of the model; pool, seed and alpha as in that of ANSWERS; answers, how many.
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
