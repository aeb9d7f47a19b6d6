"""The items of a subset, as scoring takes them."""

from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET


def read_scored_items(pool: Path, subset: Path) -> pl.DataFrame:
    """Return id, answer (0-based) and options (their number) of a subset's items, in the order of the pool.

    Raises InputError where the pool lacks one of them.
    """
    chosen = read_table(subset, SUBSET)
    items = read_table(pool, POOL, ["id", "options", "answer"])
    absent = chosen.join(items, on="id", how="anti")
    if absent.height:
        raise InputError(
            f"{subset}: {pluralize(absent.height, 'item')} not in {pool}, first {absent['id'][0]}; rerun the "
            "selection"
        )
    return items.join(chosen, on="id", how="semi", maintain_order="left").select(
        "id", "answer", pl.col("options").list.len().cast(pl.Int64)
    )
