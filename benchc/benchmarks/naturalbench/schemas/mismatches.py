"""`curate/mismatches.parquet`: one row is a pair of samples that all encoders mismatch, by one of them."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class MismatchesFooter(Footer):
    """Of what was mined.

    Attributes:
        samples: how many there were
        mismatches: number of mismatched pairs, before the most of a sample (`keep`)
        left_out: how many of these are no rows
    """

    samples: int
    mismatches: int
    left_out: int


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
