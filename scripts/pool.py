"""Sample the candidate pool from the items of all sources."""

from pathlib import Path
from typing import Annotated, Literal

import polars as pl

from benchc.atomic import write_text
from benchc.command_line import Json, PositiveInt
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL, PoolFooter
from benchc.schemas.printed import csv_text, read_csv
from benchc.schemas.row_groups import table_writer
from benchc.sources.pool import choose, pool_rows, shared_pixels, task_types


def pool(
    *,
    sources: list[Path],
    task_columns: Annotated[dict[str, Literal["category", "l2_category"]], Json],
    per_task: PositiveInt | None = None,
    total: PositiveInt | None = None,
    per_source: PositiveInt | None = None,
    images: list[Path] | None = None,
    parquet: Path,
    report: Path,
    duplicates: Path | None = None,
) -> None:
    """Sample the candidate pool from the items of all sources, balanced by task type.

    Args:
        sources: tables of items, one per source
        task_columns: each source's column with the task type
        per_task: maximum number of items of a task type
        total: maximum number of items; the limit per task type is lowered to fit
        per_source: maximum number of items of a source, before they are balanced
        images: lists of the images of the same sources, for duplicates
        parquet: pool to write
        report: report to write (CSV): task, sources, available, taken
        duplicates: list to write (CSV) of items of different sources whose images have the same pixels:
            pixels, source, id, taken
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
    write_text(report, csv_text(choice.report))
    if duplicates is not None:
        shown = pl.concat(
            read_csv(path, columns=["id", "pixels"], schema_overrides={"id": pl.String})
            for path in images or []
        )
        shared = shared_pixels(
            shown.with_columns(source=pl.col("id").str.split("/").list.first()), choice.items["id"]
        )
        if not shared.is_empty():
            print(
                f"{pluralize(shared['pixels'].n_unique(), 'image')} in several sources, of "
                f"{pluralize(shared['id'].n_unique(), 'item')}: {duplicates}"
            )
        write_text(duplicates, csv_text(shared))
    sizes = pl.col("images").list.eval(pl.element().struct.field("bytes").bin.size()).list.sum()
    with table_writer(parquet, POOL, sizes, PoolFooter(cap=choice.cap), compression="zstd") as writer:
        for rows in track(pool_rows(choice, paths), label="pool", unit="parts"):
            writer.append(rows)
