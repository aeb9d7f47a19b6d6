"""The items of the pool, with whether the benchmark keeps them."""

import polars as pl

from benchc.errors import InputError, recreate
from benchc.pluralize import pluralize


def with_kept(pool: pl.DataFrame, selected: pl.DataFrame, *, figure: str) -> pl.DataFrame:
    """Return ``pool``, which has at least the column id, with the column selected of a SELECTED table.

    Raises InputError, naming the ``figure``, where the two tables have different items.
    """
    joined = pool.join(selected.select("id", "selected"), on="id", how="full", coalesce=True)
    odd = pl.concat(
        [pool.join(selected, on="id", how="anti")["id"], selected.join(pool, on="id", how="anti")["id"]]
    )
    if len(odd):
        raise InputError(
            f"{figure}: {pluralize(len(odd), 'item')} in only one of pool and selection, such as {odd[0]}; "
            f"{recreate('selection')}"
        )
    return joined
