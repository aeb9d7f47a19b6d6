"""`curate/reviewed/{round}.parquet`: one row is an annotator's answer about a row of the review form."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class ReviewedFooter(Footer):
    """Of the reviews of a round.

    Attributes:
        round: from 0 on, or pairs
        annotators: ids of all who reviewed, in the order of the settings
    """

    round: str
    annotators: Sequence[str]


REVIEWED = TableType(
    "reviews",
    1,
    {
        "id": pl.String,  # of the form's row
        "pair": pl.String,
        "type": pl.String,  # yes_no | multiple_choice; pair where the pair itself is reviewed
        "q_idx": pl.Int64,  # null where the pair is reviewed, like i_idx
        "i_idx": pl.Int64,
        "annotator": pl.String,
        "answer": pl.Int64,  # 0: Yes or A, 1: No or B, 2: Unanswerable
        "expected": pl.Int64,
    },
)
