"""The judgements of the models of a run."""

from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.errors import InputError
from benchc.rendering.output import Files
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.shared_facts import add_shared_facts


def read_judgements(judgements: list[Path]) -> dict[str, pl.DataFrame]:
    """Return the JUDGE_SCORES tables of models by their ids, which are in the footers.

    Raises InputError where two files are of one model, or of another pool, seed or alpha.
    """
    found: dict[str, pl.DataFrame] = {}
    facts: dict[str, object] = {}
    for path in judgements:
        footer = read_footer(path)
        id_ = str(footer.get("label", path.stem))
        if id_ in found:
            raise InputError(f"{path}: a second file of the judgements of {id_}; give one for each model")
        add_shared_facts(facts, path, footer, ("pool", "seed", "alpha"))
        found[id_] = read_table(path, JUDGE_SCORES)
    return found


Judgements = Annotated[dict[str, pl.DataFrame], Files(read_judgements)]
