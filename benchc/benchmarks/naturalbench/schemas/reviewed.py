"""`curate/reviewed/{round}.parquet`: one row is an annotator's answer about a row of the review form."""

import polars as pl

from benchc.schemas.parquet import TableType

# Footer: round, and annotators in the order of the settings.
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
