"""The samples of a run of MLLM-IC: predicted options or replies, and their outcomes."""

from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.capabilities import label_of
from benchc.benchmarks.mllm_ic.schemas.capabilities import CAPABILITIES
from benchc.benchmarks.mllm_ic.schemas.outcomes import (
    OUTCOMES,
    REFUSED,
    TIED_RIGHT,
    TIED_WRONG,
    UNPARSED,
    is_right,
    scenarios,
)
from benchc.errors import InputError
from benchc.letters import LETTERS
from benchc.rendering.output import File
from benchc.rendering.results_page.samples import (
    CELL,
    Samples,
    by_model,
    candidates_of,
    probabilities,
    questions_of,
    rows_of,
)
from benchc.schemas.answers import ANSWERS
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.models import Models, read_models
from benchc.schemas.parquet import REMAKE, read_footer, read_table
from benchc.schemas.predictions import PREDICTIONS

# What a grade does not tell.
STATES = {REFUSED: "refused", UNPARSED: "no option", TIED_WRONG: "tied, wrong", TIED_RIGHT: "tied, right"}


def page_samples(
    chosen: Path,
    pool: Path,
    models: Annotated[Models, File(read_models)],
    capabilities: Path,
    outcomes: list[Path],
    predictions: list[Path],
    answers: list[Path],
    judgements: list[Path],
    labels: dict[str, str],
    groups: dict[str, str],
) -> Samples:
    """Return the samples."""
    questions = questions_of(chosen, pool)
    ids = questions["id"]
    of_model, predicted = by_model(outcomes), by_model(predictions)
    answered, judged = by_model(answers), by_model(judgements)
    footers = [read_footer(path) for path in outcomes]
    severities = footers[0]["severities"]
    if not isinstance(severities, list):
        raise InputError(f"{outcomes[0]}: its footer has no severities; {REMAKE}")

    def answers_of(model: str) -> pl.DataFrame:
        path = of_model[model][0]
        footer = read_footer(path)
        cells = scenarios(footer["corruptions"], footer["severities"])  # type: ignore[arg-type]
        rows = rows_of([path], OUTCOMES, ["id", "outcomes"], ids)
        codes = np.asarray(rows["outcomes"].to_list(), dtype=np.int8).reshape(rows.height, len(cells))
        found = pl.DataFrame(
            {
                "id": np.repeat(rows["id"].to_numpy(), len(cells)),
                "corruption": [name for name, _ in cells] * rows.height,
                "severity": [level for _, level in cells] * rows.height,
                "grade": is_right(codes).ravel().astype(np.float32),
                "state": [STATES.get(code) for code in codes.ravel().tolist()],
            },
            schema_overrides={"id": pl.String, "state": pl.String},
        )
        if model in predicted:
            given = rows_of(predicted[model], PREDICTIONS, [*CELL, "logits"], ids)
            found = found.join(given.select(*CELL, probabilities=probabilities()), on=CELL, how="left")
        if model in answered:
            replies = rows_of(answered[model], ANSWERS, [*CELL, "reply"], ids)
            options = rows_of(judged[model], JUDGEMENTS, [*CELL, "option", "status"], ids)
            letter = pl.col("option").replace_strict(dict(enumerate(LETTERS)), return_dtype=pl.String)
            chosen_option = pl.format("{}, by its {}", letter, pl.col("status").cast(pl.String))
            note = pl.coalesce(chosen_option, pl.format("no option: {}", pl.col("status").cast(pl.String)))
            found = found.join(replies, on=CELL, how="left")
            found = found.join(options.select(*CELL, note=note), on=CELL, how="left")
        return found

    facts = read_table(capabilities, CAPABILITIES).select(
        sample="id", capability=pl.col("capability").map_elements(label_of, return_dtype=pl.String)
    )
    return Samples(
        questions=questions,
        facts=facts,
        answers=answers_of,
        labels=labels,
        corruptions=groups,
        severities=severities,
        states=[*STATES.values()],
        state_label="outcome",
        candidates=candidates_of(chosen),
    )
