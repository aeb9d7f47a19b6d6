"""Tell the groups of a pool from its sources' files, and read the tags of their items."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.groups import read_groups
from benchc.benchmarks.naturalbench.places import Source
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.tags import TAGS
from benchc.benchmarks.naturalbench.tags import read_tags
from benchc.pluralize import pluralize
from benchc.schemas.parquet import write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.subset import SUBSET
from scripts.argument_types import positive_argument
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--items", type=Path, required=True, help="pool/items.parquet")
    add(
        "--tsv",
        metavar="SOURCE=FILE",
        action="append",
        required=True,
        type=_named,
        help="TSV of a source; once per source",
    )
    add(
        "--label",
        metavar="SOURCE=LABEL",
        action="append",
        required=True,
        type=_named,
        help="label of a source: the subset of its groups where the TSV names none; once per source",
    )
    add("--limit", type=positive_argument, help="maximum number of groups of each subset")
    add("--tags", type=Path, help="CSV file of tags: group, q_idx, i_idx, skill")
    for flag, text in (
        ("--groups", "groups.parquet to write"),
        ("--tags-output", "tags.parquet to write; empty without --tags"),
        ("--subset", "ids of the items of the groups, to write (Parquet)"),
        ("--questions", "ids of each question's item about image 0, to write (Parquet)"),
        ("--report", "report to write (CSV): file, group, kind, reason"),
    ):
        add(flag, type=Path, required=True, help=text)
    arguments = parser.parse_args()
    labels = dict(arguments.label)
    if [name for name, _ in arguments.tsv] != list(labels):
        parser.error("--tsv and --label name different sources; give both for each, in the same order")
    sources = {name: Source(Path(file), labels[name]) for name, file in arguments.tsv}
    found = read_groups(arguments.items, sources, arguments.limit)
    tags = pl.DataFrame(schema=pl.Schema(TAGS.columns))
    if arguments.tags is not None:
        tags = read_tags(arguments.tags, found.members)
    for subset, kind, count in (
        found.table.group_by("subset", "type").agg(pl.col("group").n_unique()).sort("subset", "type").rows()
    ):
        print(f"{subset}, {kind}: {pluralize(count, 'group')}")
    print(f"tags: {tags.height:,}")
    left_out = found.report.filter(kind="left_out").height
    if left_out:
        text = f"warning: {pluralize(left_out, 'group')} left out, with reasons in {arguments.report}"
        print(text, file=sys.stderr)
    footer = {"pool": pool_digest(arguments.items, QUESTION_COLUMNS)}
    write_text(arguments.report, found.report.write_csv())
    write_table(found.table, arguments.groups, GROUPS, footer)
    write_table(tags, arguments.tags_output, TAGS, footer)
    write_table(found.items, arguments.subset, SUBSET)
    write_table(found.questions, arguments.questions, SUBSET)


def _named(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (separator and name and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not SOURCE=VALUE")
    return name, value


if __name__ == "__main__":
    run(main)
