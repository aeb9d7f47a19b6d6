"""`orders/{model}.parquet`: one row is one prediction with the options in another circular order."""

import polars as pl

from benchc.schemas.parquet import TableType

# Footer: that of PREDICTIONS; items, how many were sampled.
ORDERS = TableType(
    "orders",
    1,
    {
        "id": pl.String,
        "order": pl.Int64,  # s in 1..K-1: place j of the prompt has option (j + s) mod K of the item
        "corruption": pl.String,  # `clean` for the uncorrupted prediction
        "severity": pl.Int64,  # 0 for clean
        "logits": pl.List(pl.Float32),  # one per option, in the order of the item's options
        "label_mass": pl.Float32,  # total probability of the options' letters or texts, in [0, 1]
        "prompt_hash": pl.String,  # of the rendered prompt, with its order of options
        "image_hash": pl.String,  # of the decoded pixels of all images
    },
    minus_inf=("logits",),  # an option that the model rules out
)
