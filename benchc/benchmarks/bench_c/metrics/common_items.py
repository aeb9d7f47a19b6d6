"""The items that several models have scores of, where predictions of some may be missing."""

from collections.abc import Mapping

import polars as pl

from benchc.errors import InputError


def common_items(scores: Mapping[str, pl.DataFrame], missing: Mapping[str, int]) -> dict[str, pl.DataFrame]:
    """Return the SCORES tables of the models, by name, on the items that all of them have.

    ``missing``: how many selected items each model's table leaves out since predictions of them are missing.
    Where none leaves out any, the tables come back as they are: whether they hold the same predictions is for
    those to check who compare them. Raises InputError where the models' tables cannot be of the same
    selection, and where no item is common to all.
    """
    if not any(missing.values()):
        return dict(scores)
    ids = {name: set(table["id"].unique()) for name, table in scores.items()}
    selected = {name: len(found) + missing[name] for name, found in ids.items()}
    (first, count), *others = selected.items()
    for name, other in others:
        if other != count:
            raise InputError(
                f"{first} has {count:,} selected items, {name} {other:,}, those counted of which "
                "predictions are "
                "missing: the scores are of different selections, make those of both again"
            )
    every = set().union(*ids.values())
    if len(every) > count:
        raise InputError(
            f"{len(every):,} items were scored, of {count:,} that are selected: the scores are of different "
            "selections, make those of all targets again"
        )
    common = set.intersection(*ids.values())
    if not common:
        raise InputError(
            f"none of the {count:,} selected items has all predictions of all {len(ids)} targets, so there "
            "is "
            "nothing to compare them on: make the missing predictions, or take a target out"
        )
    return {name: table.filter(pl.col("id").is_in(common)) for name, table in scores.items()}
