from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.r_bench.assignment import balanced_cells, tasks_of
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.errors import InputError
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.imported_images import IMPORTED_IMAGES
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET
from tests.benchmarks.made import frame_of
from tests.stages import call_stage

DIMENSIONS = [f"d{number:02}" for number in range(28)]


def cells_of(items: int, *, count: int = 15, per_item: int = 1, dimensions: int = 28) -> Any:
    ids = [f"s/{number}" for number in range(items)]
    return [*balanced_cells(ids, DIMENSIONS[:dimensions], [1, 2, 3], count=count, per_item=per_item)]


def test_as_many_items_as_in_the_paper_are_balanced_as_there() -> None:
    cells = cells_of(420)
    assert set(Counter(name for _, name, _ in cells).values()) == {15}
    assert set(Counter(cell[1:] for cell in cells).values()) == {5}
    assert len({id_ for id_, _, _ in cells}) == len(cells) == 420


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5), st.integers(1, 7))
def test_cells_are_balanced_as_far_as_the_items_reach(items: int, count: int, per_item: int, dimensions: int):
    cells = cells_of(items, count=count, per_item=per_item, dimensions=dimensions)
    assert len({cell[:2] for cell in cells}) == len(cells)
    of_items = Counter(id_ for id_, _, _ in cells)
    of_dimensions = Counter(dict.fromkeys(DIMENSIONS[:dimensions], 0))
    of_dimensions.update(name for _, name, _ in cells)
    assert max(of_items.values()) <= per_item and max(of_dimensions.values()) <= count
    for name, number in of_dimensions.items():
        shown = {id_ for id_, one, _ in cells if one == name}
        # Fewer only where no other item may be shown once more.
        if number < count:
            others = {f"s/{place}" for place in range(items)} - shown
            assert all(of_items[id_] == per_item for id_ in others)
        strengths = Counter(severity for _, one, severity in cells if one == name)
        if number:
            assert max(strengths.values()) <= -(-number // 3)
    if per_item == 1:
        assert len(cells) == min(items, count * dimensions)
        assert max(of_dimensions.values()) - min(of_dimensions.values()) <= 1


def test_the_items_depend_on_their_ids_alone() -> None:
    ids = [f"s/{number}" for number in range(60)]
    forwards = {*balanced_cells(ids, DIMENSIONS, [1, 2, 3], count=2, per_item=2)}
    backwards = {*balanced_cells(ids[::-1], DIMENSIONS, [1, 2, 3], count=2, per_item=2)}
    assert forwards == backwards
    # Not one dimension after another takes the first items.
    first = {name: id_ for id_, name, _ in cells_of(28, count=1)}
    assert list(first.values()) != sorted(first.values())
    # Each item is shown once before any is shown again.
    assert {*Counter(id_ for id_, _, _ in cells_of(60, count=15, per_item=9, dimensions=4)).values()} == {1}
    # Dimensions of few items have the strengths in balance.
    assert {*Counter(severity for _, _, severity in cells_of(60, count=1, dimensions=6)).values()} == {2}
    # Each dimension has an order of items of its own.
    one, other = ({*balanced_cells(ids, [name], [1], count=9, per_item=1)} for name in DIMENSIONS[:2])
    assert {id_ for id_, _, _ in one} != {id_ for id_, _, _ in other}


def pool_of(*rows: tuple[str, str, list[str], str]) -> pl.DataFrame:
    """Return a pool; a row is an id, a source, the options and the category."""
    values: list[dict[str, Any]] = [
        {
            **dict.fromkeys(POOL.columns),
            **{"id": id_, "source": source, "task": "t", "question": "?", "options": options},
            **{"answer": 0 if options else None, "category": category, "images": [], "image_keys": []},
        }
        for id_, source, options, category in rows
    ]
    return frame_of(POOL, values)


MIXED = pool_of(
    ("a/1", "a", ["x", "y"], "mcq"),
    ("a/2", "a", [], "vqa"),
    ("a/3", "a", [], "cap"),
    ("b/1", "b", ["x", "y"], "colour"),
    ("b/2", "b", [], "colour"),
)


def test_tasks_are_those_of_sources_options_and_categories() -> None:
    assert tasks_of(MIXED, {}, released=False)["task"].to_list() == ["mcq", "vqa", "vqa", "mcq", "vqa"]
    assert tasks_of(MIXED, {}, released=True)["task"].to_list() == ["mcq", "vqa", "cap", "mcq", "vqa"]
    # Items with options may be asked openly.
    assert tasks_of(MIXED, {"b": "vqa"}, released=False)["task"].to_list()[3:] == ["vqa", "vqa"]


@pytest.mark.parametrize(
    ("task", "message"), [("mcq", "b/2 has .* mcq, but no options"), ("cap", "b/1 .* but opt")]
)
def test_a_task_that_items_do_not_fit_is_refused(task: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tasks_of(MIXED, {"b": task}, released=False)


def assign(folder: Path, pool: pl.DataFrame, **settings: Any) -> pl.DataFrame:
    """Run the stage; return the cells."""
    write_table(pool, folder / "pool.parquet", POOL)
    names = ("task_table", "assignment", "mcq", "vqa", "cap")
    paths = {name: folder / f"{name}.parquet" for name in names}
    chosen = {"tasks": {}, "corruptions": ["jpeg", "webp"], "severities": [1, 2, 3], **settings}
    call_stage("r_bench.assign", pool=folder / "pool.parquet", **chosen, **paths)
    return read_table(paths["assignment"], ASSIGNMENT)


def test_the_stage_writes_tasks_cells_and_subsets(tmp_path: Path, capsys) -> None:
    cells = assign(tmp_path, MIXED, tasks={"a": "vqa"}, per_task=1)
    printed = capsys.readouterr()
    assert "MCQ: 1 of 1 item, 1 image\n" in printed.out and "VQA: 2 of 4 items, 2 images\n" in printed.out
    assert printed.err == (
        "warning: MCQ has fewer than 1 item under 1 of 2 dimensions, 0 at least; add items, or raise "
        "assignment.per_item\n"
    )
    subsets = {task: read_table(tmp_path / f"{task}.parquet", SUBSET)["id"] for task in ("mcq", "vqa", "cap")}
    assert {*cells["id"]} == {id_ for ids in subsets.values() for id_ in ids}
    assert subsets["mcq"].to_list() == ["b/1"] and subsets["cap"].is_empty()
    tasks = read_table(tmp_path / "task_table.parquet", TASK_TABLE)
    assert tasks["id"].to_list() == MIXED["id"].to_list()
    # All items may be shown under all.
    cells = assign(tmp_path, MIXED, cross=True)
    assert {*cells.iter_rows()} == {*product(MIXED["id"], ["jpeg", "webp"], [1, 2, 3])}
    assert not capsys.readouterr().err


def released(folder: Path, *cells: tuple[str, str, int]) -> Path:
    rows = [(*cell, {"bytes": b"x", "path": None}) for cell in cells]
    write_table(frame_of(IMPORTED_IMAGES, rows), folder / "released.parquet", IMPORTED_IMAGES)
    return folder / "released.parquet"


def test_released_pairs_have_their_cells(tmp_path: Path, capsys) -> None:
    cells = [("a/1", "jpeg", 3), ("a/2", "webp", 1), ("a/3", "fog", 1), ("other/1", "jpeg", 1)]
    found = assign(tmp_path, MIXED[:3], released=released(tmp_path, *cells))
    assert found.rows() == cells[:2]
    # Pairs of items that the pool does not have are not missed.
    assert capsys.readouterr().err == (
        "warning: 1 of 3 pairs are left out, of fog; to show them, add what is missing to corruptions.types "
        "or corruptions.severities\n"
    )
    # Of a dimension that the run does not have.
    assert read_table(tmp_path / "cap.parquet", SUBSET).is_empty()
    # Items and images of two calls are refused.
    for cells, message in (
        ([("a/1", "jpeg", 3)], r"has no distorted image of item a/2 \(2 items like this\); give the TSV and"),
        ([(f"a/{n}", "jpeg", 3) for n in (1, 2, 3, 3)], "has two distorted images of item a/3"),
        ([(f"a/{n}", "fog", 3) for n in (1, 2, 3)], "no item is of the run's dimensions and strengths"),
    ):
        with pytest.raises(InputError, match=message):
            assign(tmp_path, MIXED[:3], released=released(tmp_path, *cells))
