"""Errors by model, corruption and level: the shape of Table A.1, from which everything else is computed."""

from collections.abc import Mapping, Sequence

import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Answers, Grade, Graded, answers_of
from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS
from benchc.benchmarks.vqa_robustness.schemas.errors import KEYS
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.predictions import CLEAN

CAPTION = (
    "Errors on {items}, graded {grade}: the share of wrong answers. Level 0 is clean, equal for all "
    "corruptions. Empty answers are wrong; cut off: the answer has the most tokens allowed." + ORDER
)


def errors(graded: Graded, labels: dict[str, str], corruptions: list[str], grade: Grade) -> Table:
    """Return one row per model, corruption and level: answers, how many are wrong, the error, and why.

    With soft grades, ``wrong`` is a sum of shares.
    """
    answers = answers_of(graded, labels, corruptions, grade)
    table = _cells(answers, grade).join(_counts(graded, labels, corruptions), on=KEYS, how="left")
    columns = [
        Column("model", "Model"),
        Column("corruption", "Corruption"),
        Column("level", "Level"),
        Column("n", "n"),
        Column("wrong", "Wrong"),
        Column("error", "Error"),
        Column("empty", "Empty"),
        Column("cut_off", "Cut off"),
    ]
    items = pluralize(len(answers.items), "item")
    return printed(
        table,
        columns,
        caption=CAPTION.format(items=items, grade=grade),
        label="vre-errors",
        summary=f"errors of {pluralize(len(answers.models), 'model')} on {items}, graded {grade}",
    )


def _cells(answers: Answers, grade: Grade) -> pl.DataFrame:
    wrong = answers.wrong.sum(axis=-1)
    keys = [
        (model, corruption, level)
        for model in answers.models
        for corruption in answers.corruptions
        for level in range(LEVELS)
    ]
    schema = {"model": pl.String, "corruption": pl.String, "level": pl.Int64}
    return pl.DataFrame(keys, schema=schema, orient="row").with_columns(
        pl.lit(len(answers.items), pl.Int64).alias("n"),
        pl.Series("wrong", wrong.ravel(), strict=False).cast(pl.Float64 if grade == "soft" else pl.Int64),
        pl.Series("error", answers.errors.ravel()),
    )


def _counts(
    graded: Mapping[str, pl.DataFrame], labels: Mapping[str, str], corruptions: Sequence[str]
) -> pl.DataFrame:
    """Return how many answers of each cell are empty, and how many are cut off."""
    parts = []
    for id_, label in labels.items():
        counts = (
            graded[id_]
            .group_by("corruption", pl.col("severity").alias("level"))
            .agg(
                pl.col("empty").sum().cast(pl.Int64),
                (pl.col("finish") == "length").sum().cast(pl.Int64).alias("cut_off"),
            )
        )
        clean = counts.filter(corruption=CLEAN).drop("corruption")
        every = pl.DataFrame({"corruption": corruptions}, schema={"corruption": pl.String})
        cells = pl.concat([counts, every.join(clean, how="cross")], how="diagonal")
        parts.append(cells.with_columns(pl.lit(label).alias("model")))
    return pl.concat(parts)
