"""Sample the candidate pool from the items of all sources, balanced by task type."""

from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.sources.pool import assemble, choose, task_types
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument(
        "--items", type=Path, nargs="+", required=True, help="tables of items, one per source"
    )
    parser.add_argument(
        "--sources", nargs="+", required=True, help="ids of the sources, in the order of --items"
    )
    parser.add_argument(
        "--task-columns",
        nargs="+",
        required=True,
        choices=("category", "l2_category"),
        help="column with the task type of each source, in the order of --items",
    )
    parser.add_argument("--per-task", type=int, help="maximum number of items per task type")
    parser.add_argument(
        "--total",
        type=int,
        help="maximum number of items in all, by the largest limit per task type that fits",
    )
    parser.add_argument("--output", type=Path, required=True, help="pool to write (Parquet)")
    parser.add_argument(
        "--report", type=Path, required=True, help="report to write (CSV): task, sources, available, taken"
    )
    arguments = parser.parse_args()
    if not len(arguments.items) == len(arguments.sources) == len(arguments.task_columns):
        parser.error("--items, --sources and --task-columns need the same number of values")
    paths = dict(zip(arguments.sources, arguments.items, strict=True))
    columns = dict(zip(arguments.sources, arguments.task_columns, strict=True))
    # Choosing needs no images, and those of all sources together may not fit into memory.
    tasks = task_types(
        {source: read_table(path, ITEMS, ["id", columns[source]]) for source, path in paths.items()},
        columns,
    )
    choice = choose(tasks, arguments.per_task, arguments.total)
    chosen = choice.items["id"].implode()
    pool = assemble(
        choice,
        {
            source: read_table(path, ITEMS).filter(pl.col("id").is_in(chosen))
            for source, path in paths.items()
        },
    )
    print(
        f"pool: {pool.height:,} of {tasks.height:,} items, {choice.report.height} task types, "
        f"at most {choice.cap} items each"
    )
    write_text(arguments.report, choice.report.write_csv())
    write_table(pool, arguments.output, POOL, {"cap": choice.cap})


if __name__ == "__main__":
    run(main)
