"""The items for which all models have scores, where some predictions may be missing."""

from collections.abc import Mapping

import polars as pl

from benchc.errors import InputError, recreate


def common_items(scores: Mapping[str, pl.DataFrame], missing: Mapping[str, int]) -> dict[str, pl.DataFrame]:
    """Return the models' SCORES tables, by name, restricted to the items that all of them have.

    ``missing``: how many selected items each model's table excludes because predictions are missing. Where
    none excludes any, the tables are returned unchanged and unchecked. Raises InputError where the tables
    cannot be of the same selection, and where no item is common to all.
    """
    if not any(missing.values()):
        return dict(scores)
    ids = {name: set(table["id"].unique()) for name, table in scores.items()}
    selected = {name: len(found) + missing[name] for name, found in ids.items()}
    (first, count), *others = selected.items()
    for name, other in others:
        if other != count:
            raise InputError(
                f"counting items with missing predictions, {first} has {count:,} selected items and {name} "
                f"{other:,}: the scores are of different selections; {recreate('selection', 'scores')}"
            )
    every = set().union(*ids.values())
    if len(every) > count:
        raise InputError(
            f"{len(every):,} items were scored, but only {count:,} are selected: the scores are of different "
            f"selections; {recreate('scores')}"
        )
    common = set.intersection(*ids.values())
    if not common:
        raise InputError(
            f"none of the {count:,} selected items has all predictions of all {len(ids)} targets; create the "
            "missing predictions, or remove a target"
        )
    return {name: table.filter(pl.col("id").is_in(common)) for name, table in scores.items()}
