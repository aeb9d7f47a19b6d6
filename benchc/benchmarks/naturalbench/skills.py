"""Which questions and groups need each skill."""

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.groups import Floats
from benchc.benchmarks.naturalbench.taxonomy import CLASSES, OWN, skill_of
from benchc.errors import InputError


def skills_in(tags: pl.DataFrame) -> dict[str, str]:
    """Return the class of each skill in ``tags`` (as TAGS), in the order of the paper, own ones last."""
    found = {skill_of(name) for name in tags["skill"].unique()}
    own = dict.fromkeys(sorted(found - set(CLASSES)), OWN)
    return {skill: class_ for skill, class_ in (CLASSES | own).items() if skill in found}


def tagged_questions(groups: pl.DataFrame, tags: pl.DataFrame) -> dict[str, Floats]:
    """Return which questions need each skill, float64[groups, 2] with 0 or 1, in the order of ``groups``.

    A question needs a skill if its item about one of the images does. ``groups``: as GROUPS; ``tags``: as
    TAGS. Raises InputError for a tag of an item that is in no group.
    """
    order = {group: number for number, group in enumerate(groups["group"].unique(maintain_order=True))}
    places = {id_: (order[group], q) for id_, group, q in groups.select("id", "group", "q_idx").iter_rows()}
    found = {skill: np.zeros((len(order), 2)) for skill in skills_in(tags)}
    for id_, skill in tags.select("id", "skill").iter_rows():
        if id_ not in places:
            raise InputError(
                f"tags: item {id_!r} is in no group; correct groups.tags and run snakemake again"
            )
        found[skill_of(skill)][places[id_]] = 1
    return found
