"""Skill tags of items, from a CSV file with the columns group, q_idx, i_idx and skill."""

import difflib
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.groups import Member
from benchc.benchmarks.naturalbench.schemas.tags import TAGS
from benchc.benchmarks.naturalbench.taxonomy import NAMES, skill_of
from benchc.csv_rows import read_rows
from benchc.errors import InputError

COLUMNS = ("group", "q_idx", "i_idx", "skill")
# Ratio of difflib from which a name is taken for a misspelt skill of the paper.
LIKE = 0.8


def read_tags(path: Path, members: Sequence[Member]) -> pl.DataFrame:
    """Return the tags of the items that are taken, of type TAGS, in the order of the file.

    A group is named as in its source, or as source/group. Tags of known items that the run does not take are
    left out. A skill that the paper does not have is the user's own. Raises InputError, with the row, where
    an item is unknown or a name stands for two groups, a skill is empty or similar to one of the paper's, and
    where a tag occurs twice.
    """
    items = {(f"{each.source}/{each.group}", each.q_idx, each.i_idx): each for each in members}
    full: dict[str, list[str]] = {}
    for source, group in dict.fromkeys((each.source, each.group) for each in members):
        full.setdefault(group, []).append(f"{source}/{group}")
    names = {name for name, _, _ in items}
    tags: dict[tuple[str, str], int] = {}
    for number, values in read_rows(path, COLUMNS):
        where = f"{path}: row {number}:"
        group, question, image, text = values.values()
        if group not in names and len(full.get(group, ())) > 1:
            raise InputError(f"{where} group {group!r} is in two sources; write {' or '.join(full[group])}")
        name = group if group in names else next(iter(full.get(group, ())), "")
        if name not in names:
            raise InputError(f"{where} there is no group {group!r} in the sources; correct or remove the row")
        if question not in ("0", "1") or image not in ("0", "1"):
            raise InputError(f"{where} q_idx is {question!r} and i_idx is {image!r}; give 0 or 1")
        member = items.get((name, int(question), int(image)))
        if member is None:
            raise InputError(f"{where} group {group!r} has no such item; correct q_idx and i_idx")
        skill = _skill(where, text)
        if (member.id, skill) in tags:
            first = tags[member.id, skill]
            raise InputError(f"{where} repeats the tag {skill!r} of row {first}; remove one")
        tags[member.id, skill] = number
    taken = {member.id for member in members if member.taken}
    rows = [(id_, skill) for id_, skill in tags if id_ in taken]
    return pl.DataFrame(rows, schema=pl.Schema(TAGS.columns), orient="row")


def _skill(where: str, text: str) -> str:
    skill = skill_of(text)
    if not skill:
        raise InputError(f"{where} has no skill; name one, or remove the row")
    if skill not in NAMES and (near := difflib.get_close_matches(skill, NAMES, n=1, cutoff=LIKE)):
        raise InputError(
            f"{where} the skill {text!r} is not one of the paper's; did you mean {near[0]!r}? "
            "Rename a skill of your own that is meant"
        )
    return skill
