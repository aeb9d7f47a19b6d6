"""`judge_scores/{model}.parquet`: one row is one judgement of one reply of one model."""

from dataclasses import dataclass

import polars as pl

from benchc.benchmarks.r_bench.tasks import KINDS, TASKS
from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class JudgeScoresFooter(ImageFooter):
    """Of the judgements of one model. ``pool``: of the pool's questions.

    Attributes:
        label: id of the model
        judge: `rule`, `llm`, `human` or `published`; scores of `rule` compare with those of no other
        judge_model: name of the language model that judges; null for another judge
        temperature: of its replies
        prompts: hash of its prompts
        reading: which number of its replies is the score
        url: address of the endpoint; null in a replay
        encoder: that compares captions; of the rule judge alone
        judgements: how many, without those by letters
        unreadable: how many of them have no score, and count as 0
    """

    label: str
    judge: str
    judge_model: str | None = None
    temperature: float | None = None
    prompts: str | None = None
    reading: str | None = None
    url: str | None = None
    encoder: str | None = None
    judgements: int
    unreadable: int = 0


JUDGE_SCORES = TableType(
    "judge scores",
    1,
    {
        "id": pl.String,
        "task": pl.Enum(TASKS),
        "corruption": pl.String,  # `clean` for the kind ref
        "severity": pl.Int64,  # 1..3; 0 for clean
        "kind": pl.Enum(KINDS),
        "reference": pl.Int64,  # 0-based: which reference answer the reply is compared with
        "repeat": pl.Int64,  # 0-based
        "judge": pl.Enum(["letter", "rule", "llm", "human", "published"]),  # letter: decided without a judge
        "score": pl.Float64,  # 0 or 1 of mcq; 0, 1 or 2 of vqa and cap (published ones are means)
        "readable": pl.Boolean,  # whether the judge's reply has a score; without one, it is 0
        "request_key": pl.String,  # hash of the request (benchc/endpoint/recording.py); null without one
    },
)
