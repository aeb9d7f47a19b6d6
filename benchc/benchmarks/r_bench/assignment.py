"""What each item of the pool asks for, and under which dimensions at which strengths it is shown."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import polars as pl

from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.tasks import Task, task_of
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.randomness import seed_of
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.imported_images import IMPORTED_IMAGES
from benchc.schemas.parquet import read_table
from benchc.schemas.predictions import KEY

Cell = tuple[str, str, int]  # item, corruption, severity


def tasks_of(pool: pl.DataFrame, tasks: Mapping[str, Task], *, released: bool) -> pl.DataFrame:
    """Return the task of each item, of type TASK_TABLE in the pool's order.

    Args:
        pool: id, source, options and category of each item.
        tasks: of all items of a source.
        released: the category of an item is its task.

    Raises InputError for an mcq item without options, or a caption item with some.
    """
    found: list[tuple[str, Task]] = []
    for item in pool.select("id", "source", "options", "category").iter_rows(named=True):
        task = task_of(item, tasks, released=released)
        if task != "vqa" and bool(item["options"]) != (task == "mcq"):
            has = "no options" if task == "mcq" else "options"
            raise InputError(
                f"item {item['id']} has the task {task}, but {has}; correct the task of {item['source']} in "
                "`tasks`, or the source"
            )
        found.append((item["id"], task))
    return pl.DataFrame(found, schema=pl.Schema(TASK_TABLE.columns), orient="row")


def released_cells(path: Path, ids: Collection[str]) -> list[Cell]:
    """Return the items, corruptions and severities of the released images at ``path``.

    Images of other items than ``ids`` are left out. Raises InputError where an item has no image, or two.
    """
    rows = read_table(path, IMPORTED_IMAGES, KEY)
    remedy = "give the TSV and the images that one call of `benchc r-bench-pairs` wrote"
    if absent := sorted(set(ids) - set(rows["id"])):
        raise InputError(
            f"{path}: has no distorted image of item {absent[0]} ({pluralize(len(absent), 'item')} like "
            f"this); {remedy}, and call the source as its --source"
        )
    twice = rows.filter(pl.col("id").is_duplicated())["id"]
    if len(twice):
        raise InputError(f"{path}: has two distorted images of item {twice[0]}; {remedy}")
    return [row for row in rows.iter_rows() if row[0] in ids]


def balanced_cells(
    items: Sequence[str], corruptions: Sequence[str], severities: Sequence[int], *, count: int, per_item: int
) -> Iterator[Cell]:
    """Yield up to ``count`` items of each corruption, as far as the items reach, each at one severity.

    Corruptions take an item in turn, and the severities in turn: of a corruption that has all its items, each
    severity has equally many, or one fewer than others. An item is shown under at most ``per_item``
    corruptions; the next is the first in the order of a hash of its id and the corruption among those that
    were taken the fewest times.
    """
    taken = dict.fromkeys(items, 0)
    left = {name: sorted(items, key=partial(_hash, name)) for name in corruptions}
    for turn, (place, corruption) in product(range(count), enumerate(corruptions)):
        free = [id_ for id_ in left[corruption] if taken[id_] < per_item]
        if free:
            chosen = min(free, key=taken.__getitem__)
            left[corruption].remove(chosen)
            taken[chosen] += 1
            yield chosen, corruption, severities[(turn + place) % len(severities)]


def _hash(corruption: str, id_: str) -> int:
    return seed_of("r-bench", corruption, id_)


def assignment_table(cells: Collection[Cell]) -> pl.DataFrame:
    """Return cells as a frame of type ASSIGNMENT."""
    return pl.DataFrame(list(cells), schema=pl.Schema(ASSIGNMENT.columns), orient="row").sort(KEY)
