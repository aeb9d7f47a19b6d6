"""Choose the questions that are asked: those of categories that are not excluded."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from benchc.benchmarks.mllm_ic.questions import (
    COLUMNS,
    asked,
    incomplete_copies,
    unlisted_copies,
    unmapped_counts,
    with_groups,
)
from benchc.command_line import Json, PositiveInt
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET


def choose_questions(
    *,
    pool: Path,
    groups: Annotated[Mapping[str, str], Json],
    circular: list[str],
    unmapped: Literal["stop", "keep"] = "stop",
    mini: PositiveInt | None = None,
    output: Path,
) -> None:
    """Choose the questions that are asked: those of categories that are not excluded.

    Args:
        pool: pool/items.parquet
        groups: of each known category, as `source/category` in lower case without spaces, hyphens and
            underscores; an empty one is left out
        circular: sources that have circular copies
        unmapped: whether another category stops the run, or is asked
        mini: the most questions of a group, with their circular copies; default: all
        output: subsets/questions.parquet to write
    """
    items = read_table(pool, POOL, [*COLUMNS, "options"])
    for source, count in unlisted_copies(items, circular).items():
        print(
            f"warning: {source}: {pluralize(count, 'row')} with the index of a circular copy (from 1,000,000 "
            "on) and its original; each is a question of its own, unless the source is in "
            "capabilities.circular",
            file=sys.stderr,
        )
    found = with_groups(items, groups, circular)
    unknown = unmapped_counts(found)
    if unknown and unmapped == "stop":
        named = ", ".join(f"{name} ({count:,})" for name, count in unknown.items())
        raise InputError(
            f"no capability is given to {named}; add these categories to the file capabilities.categories, "
            "with a capability, or a reason to leave them out, or set capabilities.unmapped to keep"
        )
    chosen = asked(found, mini)
    if chosen.is_empty():
        raise InputError(f"{pool}: all categories are left out, so there is no question to ask; keep one")
    write_table(chosen.select("id"), output, SUBSET)
    for source, count in incomplete_copies(chosen, circular).items():
        print(
            f"warning: {source}: {pluralize(count, 'question')} without a circular copy for each option, so "
            "that circular accuracy is too high; look for the others in the report of the source "
            "(sources/*.report.csv)",
            file=sys.stderr,
        )
    originals = chosen["circular_group"].n_unique()
    print(f"{chosen.height:,} of {found.height:,} items are asked, of {originals:,} questions without copies")
