"""The score of each item from the judgements of its replies, as in the authors' notebook."""

import polars as pl

from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.schemas.parquet import REMAKE
from benchc.schemas.predictions import CLEAN

CELL = ["id", "task", "corruption", "severity"]
REPLY = [*CELL, "kind", "reference"]
LETTER = "letter"


def item_scores(judgements: pl.DataFrame) -> pl.DataFrame:
    """Return SCORES from rows of JUDGE_SCORES of one model.

    A score is in [0, 1]. MCQ: the majority of judgements of 0 or 1, 1 for half of them: int(sum / 5 + 0.5)
    for five. VQA and CAP: the mean of judgements of 0 to 2, halved, which is sum / 10 for five repeats, and
    sum / (2 n) for one judgement of each of n captions. A letter counts where no judge has read the reply.
    Raises InputError where an item has not all three kinds.
    """
    judged = (pl.col("judge") != LETTER).any().over(REPLY)
    judgements = judgements.filter((pl.col("judge") != LETTER) | ~judged)
    mean = pl.col("score").mean()
    score = pl.when(pl.col("task") == "mcq").then((mean.round(9) + 0.5).floor()).otherwise(mean / 2)
    found = judgements.group_by(*CELL, "kind").agg(score.first().alias("score"))
    one = {kind: found.filter(kind=kind).rename({"score": f"s_{kind}"}) for kind in ("dis", "ref", "com")}
    ref = one["ref"].filter(corruption=CLEAN).select("id", "s_ref")
    table = one["dis"].join(ref, on="id", how="left").join(one["com"], on=CELL, how="full", coalesce=True)
    lacking = table.filter(pl.any_horizontal(pl.col("s_dis", "s_ref", "s_com").is_null())).sort(CELL)
    if lacking.height:
        id_, _, corruption, severity = lacking.select(CELL).row(0)
        raise InputError(
            f"item {id_} under {corruption} at severity {severity} lacks judgements of one kind; {REMAKE}"
        )
    return (
        table.rename({"corruption": "dimension"})
        .with_columns(absolute="s_dis", relative=pl.col("s_ref") * pl.col("s_com"))
        .select(*SCORES.columns)
        .sort("id", "task", "dimension", "severity")
    )
