"""The samples of a run of VQA-robustness: replies, and whether they agree with the reference answers."""

from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade
from benchc.rendering.output import File
from benchc.rendering.results_page.samples import (
    CELL,
    Samples,
    by_model,
    candidates_of,
    questions_of,
    rows_of,
)
from benchc.schemas.grades import GRADES
from benchc.schemas.models import Models, read_models


def page_samples(
    chosen: Path,
    pool: Path,
    models: Annotated[Models, File(read_models)],
    grades: list[Path],
    references: Path,
    labels: dict[str, str],
    grade: Grade,
    groups: dict[str, str],
    severities: list[int],
) -> Samples:
    """Return the samples; ``grade``: the column of the grades that metrics are computed from."""
    questions = questions_of(chosen, pool, references)
    graded = by_model(grades)

    def answers(model: str) -> pl.DataFrame:
        columns = [*dict.fromkeys([*CELL, "reply", grade, "exact", "finish"])]
        rows = rows_of(graded[model], GRADES, columns, questions["id"])
        cut = pl.when(pl.col("finish") == "length").then(pl.lit(", cut off")).otherwise(pl.lit(""))
        exact = pl.when("exact").then(pl.lit("the reference answer, letter by letter"))
        points = pl.col(grade).cast(pl.Float64).round(2).cast(pl.String).str.strip_suffix(".0")
        note = pl.coalesce(exact, pl.format(f"{{}} by the grade {grade}", points)) + cut
        return rows.select(*CELL, "reply", grade=pl.col(grade).cast(pl.Float32), note=note)

    return Samples(
        questions=questions.with_columns(options=pl.lit([], pl.List(pl.String))),
        facts=questions.select("sample"),
        answers=answers,
        labels=labels,
        corruptions=groups,
        severities=severities,
        right="an accuracy of 0.5 or more" if grade == "soft" else "right",
        threshold=0.5 if grade == "soft" else 1.0,
        candidates=candidates_of(chosen),
    )
