"""Tell the groups of a pool from its sources' files, and read the tags of their items."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.groups import groups_of_pool
from benchc.benchmarks.naturalbench.places import Source
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS, GroupsFooter
from benchc.benchmarks.naturalbench.schemas.tags import TAGS
from benchc.benchmarks.naturalbench.tags import read_tags
from benchc.command_line import Json, PositiveInt
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.parquet import write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.printed import csv_text
from benchc.schemas.subset import SUBSET


def read_groups(
    *,
    pool: Path,
    files: list[Path],
    labels: Annotated[Mapping[str, str], Json],
    limit: PositiveInt | None = None,
    tag_file: Path | None = None,
    groups: Path,
    tags: Path,
    subset: Path,
    questions: Path,
    report: Path,
) -> None:
    """Tell the groups of a pool from its sources' files, and read the tags of their items.

    Args:
        pool: pool/items.parquet
        files: TSV of each source
        labels: label of each source, in the order of the files: the subset of its groups where the TSV names
            none
        limit: maximum number of groups of each subset
        tag_file: CSV file of tags: group, q_idx, i_idx, skill
        groups: pool/groups.parquet to write
        tags: pool/tags.parquet to write; empty without a file of tags
        subset: ids of the items of the groups, to write (Parquet)
        questions: ids of each question's item about image 0, to write (Parquet)
        report: report to write (CSV): file, group, kind, reason
    """
    if len(files) != len(labels):
        raise InputError(
            f"--files has {len(files)} files, --labels {len(labels)} sources; give one file for each"
        )
    named = zip(labels.items(), files, strict=True)
    sources = {source: Source(file, label) for (source, label), file in named}
    found = groups_of_pool(pool, sources, limit)
    tag_rows = pl.DataFrame(schema=pl.Schema(TAGS.columns))
    if tag_file is not None:
        tag_rows = read_tags(tag_file, found.members)
    for name, kind, count in (
        found.table.group_by("subset", "type").agg(pl.col("group").n_unique()).sort("subset", "type").rows()
    ):
        print(f"{name}, {kind}: {pluralize(count, 'group')}")
    print(f"tags: {tag_rows.height:,}")
    left_out = found.report.filter(kind="left_out").height
    if left_out:
        text = f"warning: {pluralize(left_out, 'group')} left out, with reasons in {report}"
        print(text, file=sys.stderr)
    footer = GroupsFooter(pool=pool_digest(pool, QUESTION_COLUMNS))
    write_text(report, csv_text(found.report))
    write_table(found.table, groups, GROUPS, footer)
    write_table(tag_rows, tags, TAGS, footer)
    write_table(found.items, subset, SUBSET)
    write_table(found.questions, questions, SUBSET)
