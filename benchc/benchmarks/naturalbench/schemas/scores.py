"""`scores/{model}.parquet`: one row is a group under one corruption, severity and reading."""

import polars as pl

from benchc.schemas.parquet import TableType

PLACES = [f"{q}{i}" for q in (0, 1) for i in (0, 1)]  # question and image

# Footer: label, the id of the model; pool, seed and alpha as in that of PREDICTIONS; `scoring` of its
# predictions, null without; `extraction` of its answers, null without; `unavailable`: reasons by reading, of
# those that the model does not have; `taus`: the thresholds (metrics/readings.py).
SCORES = TableType(
    "group scores",
    1,
    {
        "group": pl.String,
        "corruption": pl.String,  # `clean` at severity 0
        "severity": pl.Int64,
        # decoding | deterministic | post_hoc | post_hoc_grey_image | global | global_by_type | cross_fitted |
        # sample; under a corruption only decoding, deterministic and sample
        "reading": pl.String,
        # Predicted option of question q about image i, p{q}{i}: 0 (Yes, or A), 1 (No, or B), or null where
        # there is none: a reply without an answer, or `sample`, which has no single prediction.
        **{f"p{place}": pl.Int8 for place in PLACES},
        # Whether it is right; null under `sample`.
        **{f"c{place}": pl.Boolean for place in PLACES},
        # Whether both images of a question, both questions of an image, and the whole group are right.
        **dict.fromkeys(("q0", "q1", "i0", "i1", "g"), pl.Boolean),
    },
)
