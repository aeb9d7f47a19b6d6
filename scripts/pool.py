"""Sample the candidate pool from the items of all sources."""

from pathlib import Path
from typing import Annotated, Literal

import polars as pl

from benchc.atomic import write_text
from benchc.command_line import Json, PositiveInt
from benchc.errors import InputError
from benchc.progress import track
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL, PoolFooter
from benchc.schemas.row_groups import table_writer
from benchc.sources.pool import choose, pool_rows, task_types


def pool(
    *,
    sources: list[Path],
    task_columns: Annotated[dict[str, Literal["category", "l2_category"]], Json],
    per_task: PositiveInt | None = None,
    total: PositiveInt | None = None,
    per_source: PositiveInt | None = None,
    parquet: Path,
    report: Path,
) -> None:
    """Sample the candidate pool from the items of all sources, balanced by task type.

    Args:
        sources: tables of items, one per source
        task_columns: each source's column with the task type
        per_task: maximum number of items of a task type
        total: maximum number of items; the limit per task type is lowered to fit
        per_source: maximum number of items of a source, before they are balanced
        parquet: pool to write
        report: report to write (CSV): task, sources, available, taken
    """
    if not sources:
        raise InputError("--sources: no files are given; give one per source")
    paths = {str(read_footer(path).get("source")): path for path in sources}
    if len(paths) < len(sources):
        raise InputError("--sources: two of the files have the same source; give one file per source")
    if paths.keys() != task_columns.keys():
        raise InputError(
            f"--sources has {', '.join(paths)}, --task-columns has {', '.join(task_columns)}; "
            "give both for each"
        )
    # The choice needs no images, and those of all sources may not fit into memory.
    tasks = task_types(
        {source: read_table(path, ITEMS, ["id", task_columns[source]]) for source, path in paths.items()},
        task_columns,
    )
    choice = choose(tasks, per_task, total, per_source=per_source)
    print(
        f"pool: {choice.items.height:,} of {tasks.height:,} items, {choice.report.height} task types, "
        f"at most {choice.cap} items each"
    )
    write_text(report, choice.report.write_csv())
    sizes = pl.col("images").list.eval(pl.element().struct.field("bytes").bin.size()).list.sum()
    with table_writer(parquet, POOL, sizes, PoolFooter(cap=choice.cap), compression="zstd") as writer:
        for rows in track(pool_rows(choice, paths), label="pool", unit="parts"):
            writer.append(rows)
