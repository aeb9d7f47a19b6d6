"""`scores/{model}.parquet`: one row is a corrupted prediction of a target, compared with the clean one."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import TableType

TRANSITIONS = ("RR", "RW", "WR", "WW")
REGIMES = ("degraded", "overconfident", "hesitant", "stable")


@dataclass(frozen=True, kw_only=True)
class ScoresFooter(ImageFooter):
    """Of one model. ``pool``: of the pool's questions.

    Attributes:
        label: id of the model in the catalogue
        items: how many were scored
        missing_items, missing_predictions: how many are left out, where predictions are missing
    """

    label: str
    items: int
    missing_items: int | None = None
    missing_predictions: int | None = None


SCORES = TableType(
    "scores",
    1,
    {
        "id": pl.String,
        "corruption": pl.String,
        "severity": pl.Int64,  # 1..5
        "prediction": pl.Int64,  # option with the largest logit; ties go to the lower index
        "prediction_clean": pl.Int64,
        "correct": pl.Boolean,
        "correct_clean": pl.Boolean,
        "max_prob": pl.Float64,
        "entropy": pl.Float64,  # eq. 6, in [0, 1]
        "calibration": pl.Float64,  # eq. 8, in [0, 1]
        "delta_entropy": pl.Float64,  # eq. 7, in [-1, 1]
        "delta_calibration": pl.Float64,  # eq. 9, in [-1, 1]
        "ras": pl.Float64,  # eq. 10, in [-2, 1]
        "transition": pl.Enum(TRANSITIONS),  # clean -> corrupted, right or wrong
        "regime": pl.Enum(REGIMES),
    },
)
