"""Sample the candidate pool from the items of all sources, balanced by task type."""

import argparse
from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.progress import track
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.row_groups import table_writer
from benchc.sources.pool import choose, pool_rows, task_types
from scripts.argument_types import positive_argument
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument(
        "--items", type=Path, nargs="+", required=True, help="tables of items, one per source"
    )
    parser.add_argument(
        "--task-columns",
        nargs="+",
        required=True,
        type=task_column,
        metavar="SOURCE=COLUMN",
        help="each source's column with the task type: category or l2_category",
    )
    parser.add_argument("--per-task", type=positive_argument, help="maximum number of items of a task type")
    parser.add_argument(
        "--total",
        type=positive_argument,
        help="maximum number of items; the limit per task type is lowered to fit",
    )
    parser.add_argument("--output", type=Path, required=True, help="pool to write (Parquet)")
    parser.add_argument(
        "--report", type=Path, required=True, help="report to write (CSV): task, sources, available, taken"
    )
    arguments = parser.parse_args()
    paths = {str(read_footer(path).get("source")): path for path in arguments.items}
    columns = dict(arguments.task_columns)
    if len(paths) < len(arguments.items):
        parser.error("two of the files of --items have the same source; give one file per source")
    if paths.keys() != columns.keys():
        parser.error(f"--items has the sources {', '.join(paths)}, --task-columns has {', '.join(columns)}")
    # The choice needs no images, and those of all sources may not fit into memory.
    tasks = task_types(
        {source: read_table(path, ITEMS, ["id", columns[source]]) for source, path in paths.items()},
        columns,
    )
    choice = choose(tasks, arguments.per_task, arguments.total)
    print(
        f"pool: {choice.items.height:,} of {tasks.height:,} items, {choice.report.height} task types, "
        f"at most {choice.cap} items each"
    )
    write_text(arguments.report, choice.report.write_csv())
    sizes = pl.col("images").list.eval(pl.element().struct.field("bytes").bin.size()).list.sum()
    footer = {"cap": choice.cap}
    with table_writer(arguments.output, POOL, sizes, footer, compression="zstd") as writer:
        for rows in track(pool_rows(choice, paths), label="pool", unit="parts"):
            writer.append(rows)


def task_column(text: str) -> tuple[str, str]:
    source, _, column = text.partition("=")
    if column not in ("category", "l2_category"):
        raise argparse.ArgumentTypeError(f"{text!r} is not SOURCE=category or SOURCE=l2_category")
    return source, column


if __name__ == "__main__":
    run(main)
