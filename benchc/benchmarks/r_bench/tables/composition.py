"""The composition of the benchmark: its pairs by source, task and strength."""

from typing import Annotated, Literal

import polars as pl

from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.tables.table2 import PAIR_COLUMNS, counted
from benchc.pluralize import pluralize
from benchc.rendering.output import Table, parquet
from benchc.rendering.printing import Column, printed
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.pool import POOL

ALL = "all"
CAPTION = (
    "Pairs of a reference and a distorted image by source, task and strength; an item is one question or "
    "caption about a reference image."
)


def composition(
    assignment: Annotated[pl.DataFrame, parquet(ASSIGNMENT)],
    tasks: Annotated[pl.DataFrame, parquet(TASK_TABLE)],
    pool: Annotated[pl.DataFrame, parquet(POOL, "id", "source", "l2_category")],
    by: Literal["source", "l2_category"],
) -> Table:
    """Return the items and pairs of each source, the most frequent first, and of all.

    ``by``: the column of the pool that tells the source: of released pairs, the category.
    """
    of_items = tasks.join(pool.select("id", source=pl.col(by)), on="id", how="left", maintain_order="left")
    items = assignment.join(of_items, on="id", how="left").group_by("source")
    counts = counted(assignment, of_items, "source").join(
        items.agg(items=pl.col("id").n_unique().cast(pl.Int64)), on="source", nulls_equal=True
    )
    frame = counts.sort("pairs", "source", descending=[True, False])
    total = frame.select(pl.lit(ALL).alias("source"), pl.exclude("source").sum())
    frame = pl.concat([frame.with_columns(pl.col("source").fill_null("none")), total])
    return printed(
        frame,
        [Column("source", "Source"), Column("items", "Items"), *PAIR_COLUMNS],
        caption=CAPTION,
        label="r-bench-composition",
        summary=f"{pluralize(frame.height - 1, 'source')}, {pluralize(int(total['pairs'][0]), 'pair')}",
    )
