"""`scores/{model}.parquet`: one row is one item under one dimension, scored for one model."""

import polars as pl

from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.schemas.parquet import TableType

# Its footer is JudgeScoresFooter (judge_scores.py).
SCORES = TableType(
    "r-bench scores",
    1,
    {
        "id": pl.String,
        "task": pl.Enum(TASKS),
        "dimension": pl.String,  # the corruption
        "severity": pl.Int64,  # 1, 2, 3: low, mid, high
        "s_dis": pl.Float64,  # score of the reply to the distorted image against the truth, in [0, 1]
        "s_ref": pl.Float64,  # of the reply to the reference image against the truth, in [0, 1]
        "s_com": pl.Float64,  # of the reply to the distorted image against that to the reference, in [0, 1]
        "absolute": pl.Float64,  # s_dis (equation 1)
        "relative": pl.Float64,  # s_ref * s_com (equation 2)
    },
)
