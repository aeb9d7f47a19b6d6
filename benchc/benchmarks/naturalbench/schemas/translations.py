"""`translated/questions.parquet`: one row is a question in another language, and its translation."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class TranslationsFooter(Footer):
    """Of the translated questions, and of the language model that translated them.

    Attributes:
        pool: digest of the pool's questions
        model: its name at the endpoint
        temperature: of its replies
        template: hash of the prompt template
        mode: live, record or replay
        url: address of the endpoint without what may be secret; null in a replay, which asks nobody
    """

    pool: str
    model: str
    temperature: float
    template: str
    mode: str
    url: str | None


TRANSLATIONS = TableType(
    "translations",
    1,
    {
        "group": pl.String,
        "q_idx": pl.Int64,  # 0 or 1
        "language": pl.String,  # of the question
        "question": pl.String,
        "hint": pl.String,  # null where the question has none
        "options": pl.List(pl.String),
        "english_question": pl.String,  # null where no reply was usable
        "english_hint": pl.String,  # null likewise, and without a hint
        "english_options": pl.List(pl.String),  # null likewise; Yes and No are English already
        "ok": pl.Boolean,
        "reason": pl.String,  # why there is no translation; null where ok
        "request": pl.String,  # hash of the first request
    },
)
