"""`answers/{subset}/{model}/{part}.parquet`: one row is one generated answer of one model."""

from dataclasses import dataclass

import polars as pl

from benchc.finish import FINISHES
from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import TableType


# Its footer is ModelFooter (predictions.py).
@dataclass(frozen=True, kw_only=True)
class JudgedFooter(ImageFooter):
    """Of the judged answers of one model. ``pool``: of the pool's questions.

    Attributes:
        label: id of the model
        answers: how many
    """

    label: str
    answers: int


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
