"""The samples of a run of R-Bench: replies to reference and distorted images, and their judgements."""

from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.r_bench.metrics.item_scores import LETTER
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.tasks import TASK_LABELS
from benchc.corruptions.recipe import CLEAN
from benchc.rendering.output import File
from benchc.rendering.results_page.samples import (
    CELL,
    Measure,
    Samples,
    by_model,
    candidates_of,
    questions_of,
    rows_of,
)
from benchc.schemas.answers import ANSWERS
from benchc.schemas.models import Models, read_models
from benchc.schemas.parquet import read_table

KINDS = {"ref": "against the truth", "dis": "against the truth", "com": "against the reply to the reference"}


def page_samples(
    chosen: Path,
    pool: Path,
    models: Annotated[Models, File(read_models)],
    tasks: Path,
    references: Path,
    answers: list[Path],
    judge_scores: list[Path],
    scores: list[Path],
    labels: dict[str, str],
    groups: dict[str, str],
    severities: list[int],
) -> Samples:
    """Return the samples; the grade is the score of a reply against the truth."""
    of_task = read_table(tasks, TASK_TABLE).with_columns(pl.col("task").cast(pl.String))
    questions = questions_of(chosen, pool, references).drop("task")
    questions = questions.join(of_task, on="id", how="left", maintain_order="left")
    # Items with options may be asked without them.
    is_mcq = pl.col("task") == "mcq"
    none = pl.lit([], pl.List(pl.String))
    questions = questions.with_columns(
        options=pl.when(is_mcq).then("options").otherwise(none),
        truths=pl.when(is_mcq).then(none).otherwise("truths"),
        task=pl.col("task").replace_strict(TASK_LABELS),
    )
    answered, judged, scored = by_model(answers), by_model(judge_scores), by_model(scores)
    ids = questions["id"]

    def answers_of(model: str) -> pl.DataFrame:
        of_model = rows_of(scored[model], SCORES, [*SCORES.columns], ids)
        distorted = of_model.select(
            "id",
            "severity",
            "relative",
            corruption="dimension",
            grade=pl.col("s_dis").cast(pl.Float32),
            agreement="s_com",
        )
        reference = of_model.group_by("id", maintain_order=True).agg(
            grade=pl.col("s_ref").first().cast(pl.Float32)
        )
        reference = reference.with_columns(corruption=pl.lit(CLEAN), severity=pl.lit(0, pl.Int64))
        found = pl.concat([reference, distorted], how="diagonal")
        replies = rows_of(answered.get(model, []), ANSWERS, [*CELL, "reply"], ids)
        notes = _notes(rows_of(judged.get(model, []), JUDGE_SCORES, [*JUDGE_SCORES.columns], ids))
        return found.join(replies, on=CELL, how="left").join(notes, on=CELL, how="left")

    return Samples(
        questions=questions,
        facts=questions.select("sample"),
        answers=answers_of,
        labels=labels,
        corruptions=groups,
        severities=severities,
        right="a score of 0.5 or more against the truth",
        threshold=0.5,
        measures=[
            Measure("agreement", "agreement with the clean reply"),
            Measure("relative", "R_r"),
        ],
        candidates=candidates_of(chosen),
    )


def _notes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what the judge gave each reply, as text."""
    # A letter counts where no judge has read the reply, too.
    is_letter = pl.col("judge").cast(pl.String) == LETTER
    rows = rows.filter(~is_letter | is_letter.all().over([*CELL, "kind", "reference"]))
    given = (
        pl.when("readable")
        .then(pl.col("score").cast(pl.String).str.strip_suffix(".0"))
        .otherwise(pl.lit("not readable"))
    )
    by = (
        pl.when(is_letter)
        .then(pl.lit("by its letter"))
        .otherwise(pl.format("by the judge {}", pl.col("judge").cast(pl.String)))
    )
    texts = rows.sort("kind", "reference", "repeat").group_by([*CELL, "kind"], maintain_order=True)
    parts = texts.agg(given=given.str.join(", "), by=by.first())
    named = pl.col("kind").cast(pl.String).replace_strict(KINDS)
    parts = parts.with_columns(note=pl.format("{} {} {}", named, "given", "by"))
    return parts.group_by(CELL, maintain_order=True).agg(note=pl.col("note").str.join("; "))
