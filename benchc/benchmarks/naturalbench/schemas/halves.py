"""`fine_tuning/halves.parquet`: one row is a group, in the half that models are tuned or tested on."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType

TRAIN, TEST = "train", "test"


@dataclass(frozen=True, kw_only=True)
class HalvesFooter(Footer):
    """Of the halves of a run's groups.

    Attributes:
        pool: digest of the pool's questions and images
        seed: of the split
        images: different images of all groups
        in_both: of these, those that both halves have
    """

    pool: str
    seed: int
    images: int
    in_both: int


HALVES = TableType("halves", 1, {"group": pl.String, "half": pl.String})
