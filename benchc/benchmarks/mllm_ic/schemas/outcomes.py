"""`outcomes/{model}.parquet`: one row is an item, with the outcome of each of its scenarios.

A scenario is the clean image or a corruption at a severity. Codes are small: 21,352 items have 201 each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import TableType
from benchc.schemas.predictions import CLEAN

Codes = npt.NDArray[np.int8]

# A refusal and an answer that names no option are wrong, and counted. Of tied options the first is taken.
WRONG, RIGHT, REFUSED, UNPARSED, TIED_WRONG, TIED_RIGHT = range(6)

OUTCOMES = TableType(
    "outcomes",
    1,
    {
        "id": pl.String,
        "outcomes": pl.List(pl.Int8),  # WRONG to TIED_RIGHT, one of each scenario
    },
)


@dataclass(frozen=True, kw_only=True)
class OutcomesFooter(ImageFooter):
    """Of one model.

    Attributes:
        label: id of the model
        corruptions: names, in the order of the run
        severities: ascending; scenarios are clean, and then the severities of each corruption
        words: whether the model answered in words, whose options were extracted
    """

    label: str
    corruptions: Sequence[str]
    severities: Sequence[int]
    words: bool = False


def scenarios(corruptions: Sequence[str], severities: Sequence[int]) -> list[tuple[str, int]]:
    """Return the scenarios in the order of the codes, as corruption and severity; first (`clean`, 0)."""
    return [(CLEAN, 0), *((name, level) for name in corruptions for level in severities)]


def is_right(codes: Codes) -> npt.NDArray[np.bool_]:
    """Return which outcomes are right."""
    return np.asarray((codes == RIGHT) | (codes == TIED_RIGHT))
