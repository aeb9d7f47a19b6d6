"""The judgements of the models of a run."""

from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.rendering.output import Files
from benchc.schemas.shared_facts import tables_by_model


def read_judgements(judgements: list[Path]) -> dict[str, pl.DataFrame]:
    """Return the JUDGE_SCORES tables of models by their ids, which are in the footers.

    Raises InputError where two files are of one model, or of another pool, seed or alpha.
    """
    found = tables_by_model(judgements, JUDGE_SCORES, "judgements")
    return {id_: rows for id_, (_, rows, _) in found.items()}


Judgements = Annotated[dict[str, pl.DataFrame], Files(read_judgements)]
