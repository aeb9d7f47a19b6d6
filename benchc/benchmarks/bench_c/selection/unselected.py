"""Items outside the benchmark on which targets are evaluated, to compare the selected set with chance."""

import polars as pl

from benchc.errors import InputError
from benchc.randomness import seed_of


def unselected(selected: pl.DataFrame, count: int | None = None) -> pl.DataFrame:
    """Return a sample of the items of the pool that were not selected, as a SUBSET table.

    ``selected``: a SELECTED table; items of kappa 0 can be sampled too. Items are taken in the order of a
    hash of their ids, so a larger ``count`` extends the sample of a smaller one; None, or more than there
    are, takes all. Rows are in the order of ``selected``. Raises InputError where every item is selected, and
    where ``count`` is not positive.
    """
    if count is not None and count < 1:
        raise InputError(
            f"the number of unselected items is {count}; give at least 1, or leave it out for all"
        )
    candidates = selected.filter(~pl.col("selected"))
    if candidates.is_empty():
        raise InputError(
            f"all {selected.height:,} items of the pool are selected, so there are no others to compare them "
            "with: set diagnostics.random_subset to null, or raise pool.per_task"
        )
    order = sorted((seed_of("unselected", id_), id_) for id_ in candidates["id"])
    taken = [id_ for _, id_ in order[:count]]
    return candidates.filter(pl.col("id").is_in(taken)).select("id")
