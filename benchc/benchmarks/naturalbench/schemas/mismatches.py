"""`curate/mismatches.parquet`: one row is a pair of samples that all encoders mismatch, by one of them."""

import polars as pl

from benchc.schemas.parquet import TableType

# Footer: samples, mismatches (before `keep`), left_out.
MISMATCHES = TableType(
    "mismatches",
    1,
    {
        "a": pl.String,  # id of a sample, before b in the order of ids
        "b": pl.String,
        "encoder": pl.String,
        "s_aa": pl.Float32,  # similarity of image a and caption a
        "s_bb": pl.Float32,
        "s_ab": pl.Float32,  # of image a and caption b
        "s_ba": pl.Float32,
        "margin": pl.Float32,  # max(s_ab, s_ba) - min(s_aa, s_bb) > 0 (paper, eq. 1)
    },
)
