"""The paper's skills (Table 8, Figure 6), and which questions and groups need each."""

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.groups import Floats
from benchc.errors import InputError

# In the order and with the names of Tables 9 and 10.
SKILLS = {
    "object": ("animal", "human", "food", "building", "nature", "vehicle", "items", "others"),
    "attribute": ("emotion", "shape", "size", "color", "state", "abstract", "activity", "gender"),
    "relation": ("action", "part", "proximity", "topological", "projective", "orientation"),
    "reasoning": ("count", "logic", "differ", "compar", "world"),
}
OTHER = "other"  # the kind of a skill that is not in the paper
# As Table 8 and the text spell them.
SPELLINGS = {
    "counting": "count",
    "differentiation": "differ",
    "comparison": "compar",
    "world knowledge": "world",
    "item": "items",
    "other": "others",
}


def skill_of(name: str) -> str:
    """Return the name of a skill as Tables 9 and 10 print it, or in small letters if they do not have it."""
    plain = " ".join(name.replace("_", " ").split()).lower()
    return SPELLINGS.get(plain, plain)


def skills_in(tags: pl.DataFrame) -> dict[str, str]:
    """Return the kind of each skill that ``tags`` (as TAGS) have, in the order of the paper, others last."""
    found = {skill_of(name) for name in tags["skill"].unique()}
    known = {skill: kind for kind, skills in SKILLS.items() for skill in skills}
    others = dict.fromkeys(sorted(found - set(known)), OTHER)
    return {skill: kind for skill, kind in (known | others).items() if skill in found}


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
