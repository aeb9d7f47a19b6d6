"""`predictions/{subset}/{model}/{part}.parquet`: one row is one prediction of one model."""

import polars as pl

from benchc.schemas.parquet import TableType

KEY = ("id", "corruption", "severity")
CLEAN = "clean"  # the corruption of uncorrupted predictions, at severity 0

# Footer: the identity of `models.identity`, predictions, oom_splits; `adopted`: how many of the predictions
# other code computed, by its digest (`benchc cache adopt`).
PREDICTIONS = TableType(
    "predictions",
    1,
    {
        "id": pl.String,
        "corruption": pl.String,  # `clean` for the uncorrupted prediction
        "severity": pl.Int64,  # 1..5; 0 for clean
        "logits": pl.List(pl.Float32),  # one per option, in the order of the item's options
        "label_mass": pl.Float32,  # total probability of the options' letters or texts, in [0, 1]
        "prompt_hash": pl.String,  # of the rendered prompt
        "image_hash": pl.String,  # of the decoded pixels of all images
    },
)
