"""The candidate pool: items of all sources, balanced by task type."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.randomness import seed_of
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import TableFile
from benchc.schemas.pool import POOL
from benchc.sources.item_order import item_key

ITEMS_AT_ONCE = 64


@dataclass(frozen=True)
class ChosenItems:
    """The items of the pool.

    ``items`` has the columns id, source and task, in the order of the pool. ``report`` has one row per task
    type: task, sources (joined by commas), available, taken. ``cap`` is the maximum of items per task type.
    """

    items: pl.DataFrame
    report: pl.DataFrame
    cap: int


def task_types(items: Mapping[str, pl.DataFrame], task_columns: Mapping[str, str]) -> pl.DataFrame:
    """Return the task type of every item: the columns id, source and task.

    ``items`` maps sources to frames with the columns ``id`` and the source's entry in ``task_columns``. Tasks
    of the same name in two sources are one task type. Raises InputError where an item has no task type or an
    id occurs twice.
    """
    frames = []
    for source, frame in items.items():
        column = task_columns[source]
        without = frame.filter(pl.col(column).is_null())
        if without.height:
            raise InputError(
                f"source {source}: {pluralize(without.height, 'item')} without {column}, first "
                f"{without['id'][0]}; set task_column of the source to the other of category and l2_category"
            )
        frames.append(frame.select("id", source=pl.lit(source), task=pl.col(column)))
    tasks = pl.concat(frames)
    repeated = tasks.filter(pl.col("id").is_duplicated())["id"]
    if len(repeated):
        raise InputError(f"the id {repeated[0]} occurs twice among the items; give every item its own id")
    return tasks


def choose(
    tasks: pl.DataFrame, per_task: int | None, total: int | None, *, per_source: int | None = None
) -> ChosenItems:
    """Choose at most ``per_task`` items of each task type, and at most ``total`` in all (None: no limit).

    The cap c per task type is the largest with sum(min(n_task, c)) <= total. Items are taken in the order of
    a hash of their ids, so a smaller cap keeps a subset of what a larger one keeps. ``per_source``: before,
    other items than the first so many of each source are left out. Raises InputError where ``total`` is below
    the number of task types.
    """
    ordered = tasks.with_columns(
        hash=pl.Series([seed_of("pool", id_) for id_ in tasks["id"]], dtype=pl.UInt64)
    ).sort("hash", "id")
    if per_source is not None:
        ordered = ordered.filter(pl.int_range(pl.len()).over("source") < per_source)
    counts = ordered["task"].value_counts()["count"].to_list()
    cap = largest_cap(counts, per_task, total)
    taken = ordered.filter(pl.int_range(pl.len()).over("task") < cap)
    order = sorted(range(taken.height), key=lambda row: item_key(taken["id"][row]))
    report = (
        ordered.group_by("task")
        .agg(sources=pl.col("source").unique().sort().str.join(","), available=pl.len())
        .sort("task")
        .with_columns(taken=pl.col("available").clip(upper_bound=cap))
        .cast({"available": pl.Int64, "taken": pl.Int64})
    )
    return ChosenItems(taken[order].select("id", "source", "task"), report, cap)


def largest_cap(counts: list[int], per_task: int | None, total: int | None) -> int:
    """Return the largest cap c <= per_task with sum(min(n, c)) <= total over the ``counts`` n.

    The cap is at most the largest count. Raises InputError where no c >= 1 fits.
    """
    cap = max(counts)
    if per_task is not None:
        cap = min(cap, per_task)
    if total is None:
        return cap
    if total < len(counts):
        raise InputError(
            f"pool.total is {total}, but there are {len(counts)} task types, and each needs an item; "
            f"set it to {len(counts)} or more"
        )
    while sum(min(count, cap) for count in counts) > total:
        cap -= 1
    return cap


def shared_pixels(images: pl.DataFrame, taken: pl.Series) -> pl.DataFrame:
    """Return the items of several sources whose images have the same pixels.

    ``images``: the columns source, id and pixels, a hash. ``taken``: the ids of the pool. The result has the
    columns pixels, source, id and taken, in the order of the ids of the first item.
    """
    shared = images.filter(pl.col("source").n_unique().over("pixels") > 1).unique(["pixels", "id"])
    first = pl.col("id").sort_by("source", "id").first().over("pixels")
    return shared.sort(first, "source", "id").select(
        "pixels", "source", "id", taken=pl.col("id").is_in(taken.implode())
    )


def pool_rows(choice: ChosenItems, paths: Mapping[str, Path]) -> Iterator[pl.DataFrame]:
    """Yield the rows of the pool, of type POOL, a few at a time; ``paths``: the items of every source.

    Images of all items may not fit into memory. Raises TableError as ``TableFile.rows``.
    """
    for source, path in sorted(paths.items()):
        with TableFile(path, ITEMS) as file:
            numbers = {id_: number for number, id_ in enumerate(file.columns(["id"])["id"])}
            chosen = choice.items.filter(pl.col("source") == source)
            for items in chosen.iter_slices(ITEMS_AT_ONCE):
                rows = file.rows([numbers[id_] for id_ in items["id"]])
                yield assemble(replace(choice, items=items), {source: rows})


def assemble(choice: ChosenItems, items: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the pool, of type POOL, from the choice and the items of every source."""
    parts = [choice.items.join(items[source], on="id", maintain_order="left") for source in sorted(items)]
    return pl.concat(parts).select(list(POOL.columns))
