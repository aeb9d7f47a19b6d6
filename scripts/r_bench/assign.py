"""Assign items to tasks, and to the dimensions and strengths under which they are shown."""

import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.r_bench.assignment import (
    Cell,
    assignment_table,
    balanced_cells,
    released_cells,
    tasks_of,
)
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.tasks import TASK_LABELS, Task
from benchc.command_line import Json, PositiveInt
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.subset import SUBSET


def assign(
    *,
    pool: Path,
    released: Path | None = None,
    tasks: Annotated[Mapping[str, Task], Json],
    corruptions: list[str],
    severities: list[PositiveInt],
    per_task: PositiveInt = 15,
    per_item: PositiveInt = 1,
    cross: bool = False,
    task_table: Path,
    assignment: Path,
    mcq: Path,
    vqa: Path,
    cap: Path,
) -> None:
    """Assign items to tasks, and to the dimensions and strengths under which they are shown.

    Args:
        pool: pool/items.parquet
        released: distorted images of released pairs, which have one dimension and strength each; the category
            of an item is then its task
        tasks: task of all items of a source, by its id
        corruptions: dimensions
        severities: strengths
        per_task: the most items of a dimension and task
        per_item: the most dimensions of an item, each at one strength
        cross: all items under all dimensions at all strengths
        task_table: pool/tasks.parquet to write
        assignment: pool/assignment.parquet to write
        mcq: subsets/mcq.parquet to write: the ids of the items that are asked
        vqa: the same of open-ended questions
        cap: the same of captions
    """
    items = read_table(pool, POOL, ["id", "source", "options", "category"])
    found = tasks_of(items, tasks, released=released is not None)
    ids = {task: found.filter(task=task)["id"].to_list() for task in TASK_LABELS}
    if released is not None:
        found_cells = released_cells(released, items["id"].to_list())
        of_run = {*product(corruptions, severities)}
        cells = [cell for cell in found_cells if cell[1:] in of_run]
        _say_what_is_left_out(found_cells, of_run)
    elif cross:
        cells = [*product(items["id"], corruptions, severities)]
    else:
        cells = [
            cell
            for of_task in ids.values()
            for cell in balanced_cells(of_task, corruptions, severities, count=per_task, per_item=per_item)
        ]
    if not cells:
        raise InputError(f"{pool}: no item is of the run's dimensions and strengths; add some of either")
    table = assignment_table(cells)
    paths: dict[Task, Path] = {"mcq": mcq, "vqa": vqa, "cap": cap}
    for task, path in paths.items():
        of_task = table.filter(pl.col("id").is_in(ids[task]))
        shown = found.filter(task=task).join(of_task, on="id", how="semi").select("id")
        write_table(shown, path, SUBSET)
        images = pluralize(of_task.height, "image")
        print(f"{TASK_LABELS[task]}: {shown.height:,} of {pluralize(len(ids[task]), 'item')}, {images}")
        if released is None and not cross and ids[task]:
            _say_what_is_short(task, of_task, corruptions, per_task)
    footer = ImageFooter(pool=pool_digest(pool, QUESTION_COLUMNS))
    write_table(found, task_table, TASK_TABLE, footer)
    write_table(table, assignment, ASSIGNMENT, footer)


def _say_what_is_left_out(cells: Sequence[Cell], of_run: Collection[tuple[str, int]]) -> None:
    left_out = [corruption for _, corruption, severity in cells if (corruption, severity) not in of_run]
    if left_out:
        print(
            f"warning: {len(left_out):,} of {pluralize(len(cells), 'pair')} are left out, of "
            f"{', '.join(sorted({*left_out}))}; to show them, add what is missing to corruptions.types or "
            "corruptions.severities",
            file=sys.stderr,
        )


def _say_what_is_short(task: Task, cells: pl.DataFrame, corruptions: list[str], per_task: int) -> None:
    counts = dict.fromkeys(corruptions, 0) | dict(cells["corruption"].value_counts().iter_rows())
    short = [name for name, count in counts.items() if count < per_task]
    if short:
        print(
            f"warning: {TASK_LABELS[task]} has fewer than {pluralize(per_task, 'item')} under {len(short)} "
            f"of {len(counts)} dimensions, {min(counts.values())} at least; add items, or raise "
            "assignment.per_item",
            file=sys.stderr,
        )
