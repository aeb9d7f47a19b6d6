"""The samples of a run of NaturalBench: groups of two images and two questions, and four answers a model."""

from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.scores import PLACES, SCORES
from benchc.letters import LETTERS
from benchc.rendering.output import File
from benchc.rendering.results_page.samples import (
    CELL,
    Samples,
    by_model,
    candidates_of,
    labels_of,
    probabilities,
    questions_of,
    rows_of,
)
from benchc.schemas.answers import ANSWERS
from benchc.schemas.models import Models, read_models
from benchc.schemas.parquet import read_table
from benchc.schemas.predictions import PREDICTIONS


def page_samples(
    chosen: Path,
    pool: Path,
    models: Annotated[Models, File(read_models)],
    groups: Path,
    scores: list[Path],
    predictions: list[Path],
    answers: list[Path],
    reading: str,
    corruption_groups: dict[str, str],
    severities: list[int],
) -> Samples:
    """Return the samples: groups; ``reading``: that of the predictions whose answers are graded."""
    members = read_table(groups, GROUPS).with_columns(
        place=pl.format("{}{}", "q_idx", "i_idx"),
        name=pl.format("question {}, image {}", pl.col("q_idx") + 1, pl.col("i_idx") + 1),
    )
    questions = questions_of(chosen, pool, names=members.select("id", "name"))
    ids = questions["id"]
    scored, predicted, answered = by_model(scores), by_model(predictions), by_model(answers)

    def answers_of(model: str) -> pl.DataFrame:
        rows = pl.concat([read_table(path, SCORES) for path in scored[model]]).filter(reading=reading)
        parts = [
            rows.select(
                "group",
                "corruption",
                "severity",
                place=pl.lit(place),
                grade=pl.col(f"c{place}").cast(pl.Float32),
                option=f"p{place}",
            )
            for place in PLACES
        ]
        of_item = members.filter(pl.col("id").is_in(ids.implode())).select("id", "group", "place", "type")
        found = of_item.join(pl.concat(parts), on=["group", "place"], how="inner")
        options = questions.select("id", "options")
        if model in predicted and reading != "decoding":
            given = rows_of(predicted[model], PREDICTIONS, [*CELL, "logits"], ids)
            return found.join(given.select(*CELL, probabilities=probabilities()), on=CELL, how="left")
        replies = rows_of(answered.get(model, []), ANSWERS, [*CELL, "reply"], ids)
        letter = pl.col("option").replace_strict(dict(enumerate(LETTERS)), return_dtype=pl.String)
        text = pl.col("options").list.get(pl.col("option").cast(pl.Int64), null_on_oob=True)
        # Option 0 of a score is Yes, also where an item lists No first.
        word = pl.col("option").replace_strict({0: "Yes", 1: "No"}, default=None, return_dtype=pl.String)
        read = pl.when(type="yes_no").then(word).otherwise(pl.format("{}. {}", letter, text))
        note = pl.coalesce(pl.format("read as {}", read), pl.lit("no answer was found in it"))
        found = found.join(replies, on=CELL, how="left").join(options, on="id", how="left")
        return found.with_columns(note=note)

    facts = members.group_by("group", maintain_order=True).agg(
        pl.col("subset").first(), pl.col("type").first(), pl.col("method").first()
    )
    return Samples(
        questions=questions,
        facts=facts.select(sample="group", subset="subset", type="type", method="method"),
        answers=answers_of,
        labels=labels_of(models, scored),
        corruptions=corruption_groups,
        severities=severities,
        right=f"a group with four right answers, by the reading {reading}",
        candidates=candidates_of(chosen),
        note="The main tables are of the groups whose method is mined.",
    )
