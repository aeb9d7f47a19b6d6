"""`scores/{model}.parquet`: one row is a group under one corruption, severity and reading."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import TableType

PLACES = [f"{q}{i}" for q in (0, 1) for i in (0, 1)]  # question and image


@dataclass(frozen=True, kw_only=True)
class ScoresFooter(ImageFooter):
    """Of the scores of one model. ``pool``, ``seed`` and ``alpha``: those of its predictions and answers.

    Attributes:
        label: id of the model in the catalogue
        scoring: that of its predictions; null without
        extraction: how answers were extracted from its replies; null without
        unavailable: why it lacks a reading, by reading
        taus: the thresholds (``metrics/readings.py``)
    """

    label: str
    scoring: str | None
    extraction: str | None
    unavailable: Mapping[str, str]
    taus: Sequence[Mapping[str, object]]


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
