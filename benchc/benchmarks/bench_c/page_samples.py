"""The samples of a Bench-C run: option probabilities, their entropy and calibration error, RAS and κ."""

from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.schemas.scores import REGIMES, SCORES
from benchc.corruptions.recipe import CLEAN
from benchc.rendering.output import File
from benchc.rendering.results_page.samples import (
    CELL,
    Measure,
    Samples,
    by_model,
    candidates_of,
    labels_of,
    probabilities,
    questions_of,
    rows_of,
)
from benchc.schemas.models import Models, read_models
from benchc.schemas.predictions import PREDICTIONS

SHOWN = [
    "entropy",
    "calibration",
    "delta_entropy",
    "delta_calibration",
    "ras",
    "regime",
    "correct",
    "correct_clean",
]


def page_samples(
    chosen: Path,
    pool: Path,
    models: Annotated[Models, File(read_models)],
    selected: Selected,
    scores: list[Path],
    predictions: list[Path],
    groups: dict[str, str],
    severities: list[int],
) -> Samples:
    """Return the samples; an answer is graded 1 where the most probable option is right."""
    questions = questions_of(chosen, pool)
    scored, predicted = by_model(scores), by_model(predictions)

    def answers(model: str) -> pl.DataFrame:
        rows = rows_of(predicted[model], PREDICTIONS, [*CELL, "logits"], questions["id"])
        of_model = rows_of(scored[model], SCORES, [*CELL, *SHOWN], questions["id"])
        clean = of_model.group_by("id").agg(grade=pl.col("correct_clean").first())
        found = rows.select(*CELL, probabilities=probabilities()).join(of_model, on=CELL, how="left")
        found = found.join(clean, on="id", how="left")
        right = pl.when(corruption=CLEAN).then("grade").otherwise("correct")
        return found.with_columns(grade=right.cast(pl.Float32), state=pl.col("regime").cast(pl.String))

    return Samples(
        questions=questions,
        facts=selected.filter("selected").select(sample="id", κ="kappa"),
        answers=answers,
        labels=labels_of(models, scored),
        corruptions=groups,
        severities=severities,
        measures=[
            Measure("ras", "RAS", change=True),
            Measure("delta_entropy", "Δ entropy"),
            Measure("delta_calibration", "Δ calibration error"),
        ],
        states=REGIMES,
        state_label="regime",
        candidates=candidates_of(chosen),
    )
