"""The options that the generated answers of a model choose."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.judges.option_reply import option_of
from benchc.schemas.answers import ANSWERS
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import read_table


def option_choices(path: Path, options: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return the answers of a file as rows of JUDGEMENTS; ``options``: those of each item.

    Raises InputError where an item has no options.
    """
    rows = []
    for row in read_table(path, ANSWERS).iter_rows(named=True):
        if not options[row["id"]]:
            raise InputError(
                f"{path}: item {row['id']} is an open-ended question, whose answer chooses no option; remove "
                "it from the subset"
            )
        chosen = option_of(row["reply"], options[row["id"]], row["finish"])
        key = {name: row[name] for name in ("id", "corruption", "severity", "finish")}
        rows.append({**key, "option": chosen.option, "status": chosen.status})
    return pl.DataFrame(rows, schema=pl.Schema(JUDGEMENTS.columns))
