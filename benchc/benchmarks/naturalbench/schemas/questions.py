"""`curate/questions/{round}.parquet`: one row is a question of a pair, or why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class QuestionsFooter(Footer):
    """Of the questions of a round, and of the language model that wrote them.

    Attributes:
        round: from 0 on
        model: its name at the endpoint
        temperature: of its replies
        templates: hash of the prompt template of each type
        mode: live, record or replay
        url: address of the endpoint without what may be secret; null in a replay, which asks nobody
    """

    round: int
    model: str
    temperature: float
    templates: Mapping[str, str]
    mode: str
    url: str | None


QUESTIONS = TableType(
    "questions",
    1,
    {
        "pair": pl.String,
        "type": pl.String,  # yes_no | multiple_choice
        "q_idx": pl.Int64,  # 0: image 0 has answer 0; 1: image 0 has answer 1
        "question": pl.String,  # null where the reply was not usable
        "answer_0": pl.String,  # text of option 0: Yes, or that of A; null likewise
        "answer_1": pl.String,
        "ok": pl.Boolean,
        "reason": pl.String,  # why not; null where ok
        "request": pl.String,  # hash of the request
        "template": pl.String,  # hash of the prompt template
    },
)
