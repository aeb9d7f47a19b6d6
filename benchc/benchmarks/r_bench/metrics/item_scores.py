"""Scores of items from judgements (equations 1 and 2 of the paper, and the authors' code)."""

from pathlib import Path

import polars as pl

from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.schemas.parquet import REMAKE
from benchc.schemas.predictions import KEY


def item_scores(judge_scores: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return rows of SCORES from all judgements of one model, rows of JUDGE_SCORES; ``path``: their file.

    A score is the majority of judgements, 0 or 1, of multiple-choice items (an even split is 1), and else
    half their mean over repeats and reference captions. Raises InputError where an item lacks a kind.
    """
    means = kind_scores(judge_scores)
    of = {
        kind: means.filter(kind=kind).rename({"score": f"s_{kind}"}).drop("kind") for kind in ("dis", "com")
    }
    ref = means.filter(kind="ref").select("id", s_ref="score")
    rows = of["dis"].join(of["com"], on=["task", *KEY], how="full", coalesce=True, maintain_order="left")
    rows = rows.join(ref, on="id", how="left", maintain_order="left")
    kinds = ["s_dis", "s_ref", "s_com"]
    if (bad := rows.filter(pl.any_horizontal(pl.col(kinds).is_null()))).height:
        id_, corruption, severity = bad.select(KEY).row(0)
        missing = next(kind for kind in kinds if bad[kind][0] is None).removeprefix("s_")
        raise InputError(
            f"{path}: has no judgement {missing} of item {id_} under {corruption} at severity {severity}; "
            f"{REMAKE}"
        )
    return rows.with_columns(
        dimension="corruption", absolute="s_dis", relative=pl.col("s_ref") * pl.col("s_com")
    ).select(pl.col(name).cast(dtype) for name, dtype in SCORES.columns.items())


def kind_scores(judge_scores: pl.DataFrame) -> pl.DataFrame:
    """Return the score in [0, 1] of each item, cell and kind: task, KEY, kind and score."""
    mean = pl.col("score").mean()
    return judge_scores.group_by(["task", *KEY, "kind"], maintain_order=True).agg(
        score=pl.when(pl.col("task").first() == "mcq").then((mean + 0.5).floor()).otherwise(mean / 2)
    )
