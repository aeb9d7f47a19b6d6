"""`scores/{model}.parquet`: one row is a group under one corruption, severity and reading."""

import polars as pl

from benchc.schemas.parquet import TableType

# Footer: label, the id of the model; pool, seed and alpha as in that of PREDICTIONS; `unavailable`: reasons
# by reading, of those that the model does not have.
SCORES = TableType(
    "group scores",
    1,
    {
        "group": pl.String,
        "corruption": pl.String,  # `clean` at severity 0
        "severity": pl.Int64,
        # decoding | deterministic | post_hoc | global | global_by_type | cross_fitted | sample
        "reading": pl.String,
        # Predicted option of question q about image i, p{q}{i}: 0, 1, or null where there is none: a reply
        # without an answer, or `sample`, which has no single prediction.
        **{f"p{q}{i}": pl.Int8 for q in (0, 1) for i in (0, 1)},
        # Whether it is right; null under `sample`.
        **{f"c{q}{i}": pl.Boolean for q in (0, 1) for i in (0, 1)},
        # Whether both images of a question, both questions of an image, and the whole group are right.
        **dict.fromkeys(("q0", "q1", "i0", "i1", "g"), pl.Boolean),
    },
)
