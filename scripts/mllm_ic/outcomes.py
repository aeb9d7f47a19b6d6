"""Find the outcome of each question in each scenario for one model."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.found_outcomes import (
    Question,
    imported_logits,
    imported_options,
    outcomes_of,
)
from benchc.benchmarks.mllm_ic.schemas.outcomes import (
    OUTCOMES,
    REFUSED,
    TIED_RIGHT,
    TIED_WRONG,
    UNPARSED,
    OutcomesFooter,
    is_right,
)
from benchc.command_line import PositiveInt
from benchc.errors import InputError
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import REMAKE, read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.predictions import KEY, check_predictions
from benchc.schemas.predictions_of_model import read_all_predictions
from benchc.schemas.subset import SUBSET


def outcomes(
    *,
    pool: Path,
    subset: Path,
    predictions: list[Path] | None = None,
    judgements: Path | None = None,
    answers_from: Path | None = None,
    predictions_from: Path | None = None,
    label: str,
    corruptions: list[str],
    severities: list[PositiveInt],
    output: Path,
) -> None:
    """Find the outcome of each question in each scenario for one model, from one of four kinds of files.

    Args:
        pool: pool/items.parquet
        subset: subsets/questions.parquet
        predictions: predictions/questions/{model}/{part}.parquet
        judgements: judgements/questions/{model}.parquet, of a model that answers in words
        answers_from: CSV file with answers in words by another program
        predictions_from: Parquet file with option logits by another program
        label: id of the model
        corruptions: in the order of the run
        severities: of each corruption
        output: outcomes.parquet to write
    """
    questions = _questions(pool, subset)
    facts: dict[str, Any] = {"pool": pool_digest(pool, QUESTION_COLUMNS)}
    mend = "delete it and run snakemake again"
    if predictions:
        facts = check_predictions(predictions, pool)
        rows, of = read_all_predictions(predictions), f"{label}: prediction"
        mend = f"delete {predictions[0].parent} and run snakemake again"
    elif judgements is not None:
        found = read_footer(judgements)
        facts |= {key: found[key] for key in ("pool", "seed", "alpha") if key in found}
        rows, of = read_table(judgements, JUDGEMENTS, [*KEY, "option", "status"]), f"{judgements}: answer"
    elif answers_from is not None:
        rows = imported_options(answers_from, questions, corruptions, severities)
        of = f"{answers_from}: answer"
    elif predictions_from is not None:
        rows, of = imported_logits(predictions_from), f"{predictions_from}: prediction"
        mend = (
            f"ask the model about exactly the items of {subset}, clean (severity 0) and under the "
            "corruptions of the run, named as in docs/corruptions.md, at each severity"
        )
    else:
        raise InputError("--predictions, or another kind of results of the model, is missing; give one")
    codes = outcomes_of(rows, questions, corruptions, severities, of, mend)
    words = predictions is None and predictions_from is None
    footer = OutcomesFooter(label=label, corruptions=corruptions, severities=severities, words=words, **facts)
    lists = pl.Series(codes).arr.to_list()
    table = pl.DataFrame({"id": [*questions], "outcomes": lists}, schema_overrides=OUTCOMES.columns)
    write_table(table, output, OUTCOMES, footer)
    counts = {
        "right": int(is_right(codes).sum()),
        "tied": int(np.isin(codes, (TIED_RIGHT, TIED_WRONG)).sum()),
        "refused": int((codes == REFUSED).sum()),
        "unparsed": int((codes == UNPARSED).sum()),
    }
    if counts["tied"] == codes.size:
        print(
            f"warning: {label}: in each of its {codes.size:,} predictions, the best options have the same "
            "score; check its weights, and how it was asked",
            file=sys.stderr,
        )
    print(f"{label}: {codes.size:,} outcomes, " + ", ".join(f"{n:,} {name}" for name, n in counts.items()))


def _questions(pool: Path, subset: Path) -> dict[str, Question]:
    ids = read_table(subset, SUBSET)
    pooled = read_table(pool, POOL, ["id", "options", "answer"])
    if (lost := ids.join(pooled, on="id", how="anti")).height:
        raise InputError(f"{subset}: {lost['id'][0]} is not in {pool}; {REMAKE}")
    items = ids.join(pooled, on="id", how="left", maintain_order="left")
    if (without := items.filter(pl.col("answer").is_null())).height:
        raise InputError(
            f"{without['id'][0]}: is an open-ended question, which has no options; leave its category out in "
            "the file capabilities.categories"
        )
    return {id_: Question(options, answer) for id_, options, answer in items.iter_rows()}
