"""The pool is balanced, in order, and a subset of the pool of a larger cap."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.sources.item_order import item_key
from benchc.sources.pool import assemble, choose, largest_cap, pool_rows, shared_pixels, task_types
from tests.footers import footer_of
from tests.stages import run_stage

pytestmark = pytest.mark.usefixtures("preloaded_stages")

ROOT = Path(__file__).resolve().parents[2]


def items(source: str, tasks: dict[str, int]) -> pl.DataFrame:
    """Return items of a source, with the given number of each task, in the column ``category``."""
    names = [task for task, count in tasks.items() for _ in range(count)]
    count = len(names)
    return pl.DataFrame(
        {
            "id": [f"{source}/{index}" for index in range(count)],
            "question": [f"Question {index}?" for index in range(count)],
            "hint": [None] * count,
            "options": [["yes", "no"]] * count,
            "answer": [index % 2 for index in range(count)],
            "category": names,
            "l2_category": [f"l2 {name}" for name in names],
            "images": [[{"bytes": b"image %d" % index, "path": None}] for index in range(count)],
            "image_keys": [[f"{source}/{index}#0"] for index in range(count)],
        },
        schema=pl.Schema(ITEMS.columns),
    )


def tasks_of(*counts: dict[str, int]) -> pl.DataFrame:
    sources = {f"s{number}": items(f"s{number}", tasks) for number, tasks in enumerate(counts)}
    return task_types(sources, dict.fromkeys(sources, "category"))


def test_items_of_a_source_are_limited_before_task_types_are_balanced() -> None:
    tasks = tasks_of({"a": 30, "b": 10}, {"a": 4})
    taken = choose(tasks, None, None, per_source=8)
    assert dict(taken.items["source"].value_counts().rows()) == {"s0": 8, "s1": 4}
    assert taken.report["available"].sum() == taken.report["taken"].sum() == 12
    # A larger limit keeps them, and other sources decide nothing.
    more = choose(tasks, None, None, per_source=20).items
    assert set(taken.items["id"]) <= set(more["id"])
    alone = choose(tasks.filter(source="s0"), None, None, per_source=8).items
    assert set(alone["id"]) == set(taken.items.filter(source="s0")["id"])
    # A draw is not balanced, so that its accuracy is that of the source.
    wide = choose(tasks_of({"a": 3000, "b": 1000}), None, None, per_source=400).items
    assert 0.68 < (wide["task"] == "a").mean() < 0.82
    assert choose(tasks, 2, None, per_source=8).items.height <= 4


@pytest.mark.parametrize(
    ("counts", "per_task", "total", "cap"),
    [
        ([5, 3, 9], None, None, 9),
        ([5, 3, 9], 4, None, 4),
        ([5, 3, 9], 100, None, 9),
        ([5, 3, 9], None, 17, 9),
        ([5, 3, 9], None, 16, 8),
        ([5, 3, 9], None, 11, 4),  # 4 + 3 + 4
        ([5, 3, 9], None, 10, 3),  # a cap of 4 would give 11
        ([5, 3, 9], 2, 10, 2),
        ([5, 3, 9], None, 3, 1),
    ],
)
def test_largest_cap(counts: list[int], per_task: int | None, total: int | None, cap: int) -> None:
    assert largest_cap(counts, per_task, total) == cap


def test_a_total_below_the_number_of_tasks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"pool\.total is 2, but there are 3 task types"):
        largest_cap([5, 3, 9], None, 2)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(8, 200))
def test_the_cap_fits_and_the_next_one_does_not(counts: list[int], total: int) -> None:
    cap = largest_cap(counts, None, total)
    assert sum(min(count, cap) for count in counts) <= total
    assert cap == max(counts) or sum(min(count, cap + 1) for count in counts) > total


def test_tasks_are_balanced_over_all_sources() -> None:
    choice = choose(tasks_of({"count": 6, "place": 2}, {"count": 5, "colour": 9}), 4, None)
    assert choice.report.rows() == [
        ("colour", "s1", 9, 4),
        ("count", "s0,s1", 11, 4),
        ("place", "s0", 2, 2),
    ]
    assert choice.items["task"].value_counts(sort=True).sort("task").rows() == [
        ("colour", 4),
        ("count", 4),
        ("place", 2),
    ]
    assert choice.cap == 4


@given(st.integers(1, 12), st.integers(1, 12))
def test_a_smaller_cap_keeps_a_subset(one: int, other: int) -> None:
    tasks = tasks_of({"count": 12, "place": 7}, {"count": 5})
    fewer, more = (set(choose(tasks, cap, None).items["id"]) for cap in sorted((one, other)))
    assert fewer <= more


def test_the_choice_does_not_depend_on_the_order_of_items_or_sources() -> None:
    tasks = tasks_of({"count": 12, "place": 7}, {"count": 5})
    for seed in range(3):
        assert choose(tasks.sample(fraction=1, shuffle=True, seed=seed), 3, None).items.equals(
            choose(tasks, 3, None).items
        )


def test_the_choice_is_not_the_first_rows() -> None:
    chosen = choose(tasks_of({"count": 200}), 20, None).items["id"].to_list()
    indices = [int(id_.partition("/")[2]) for id_ in chosen]
    assert indices == sorted(indices)
    assert max(indices) > 100


def test_the_order_is_by_source_and_integer_index() -> None:
    assert sorted(["b/1", "a/10", "a/9", "a/x10", "a/x9", "a/-1"], key=item_key) == [
        "a/-1",
        "a/9",
        "a/10",
        "a/x9",
        "a/x10",
        "b/1",
    ]


def test_items_without_a_task_are_refused_with_a_fix() -> None:
    frame = items("s", {"count": 3}).with_columns(l2_category=pl.lit(None, pl.String))
    with pytest.raises(ValueError, match="source s: 3 items without l2_category, first s/0; set task_column"):
        task_types({"s": frame}, {"s": "l2_category"})


def test_repeated_ids_are_refused() -> None:
    frame = items("s", {"count": 3})
    with pytest.raises(ValueError, match="the id s/0 occurs twice"):
        task_types({"s": pl.concat([frame, frame])}, {"s": "category"})


def test_the_pool_contains_the_items_unchanged() -> None:
    sources = {"b": items("b", {"count": 3}), "a": items("a", {"place": 12})}
    choice = choose(task_types(sources, {"a": "l2_category", "b": "category"}), None, None)
    pool = assemble(choice, sources)
    assert dict(pool.schema) == dict(pl.Schema(POOL.columns))
    assert pool["id"].to_list() == [f"a/{index}" for index in range(12)] + [
        f"b/{index}" for index in range(3)
    ]
    assert pool["task"].to_list() == ["l2 place"] * 12 + ["count"] * 3
    assert pool.select(list(ITEMS.columns)).equals(pl.concat([sources["a"], sources["b"]]))


def test_rows_that_come_a_few_at_a_time_are_the_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {"b": items("b", {"count": 7}), "a": items("a", {"place": 12, "count": 4})}
    paths = {source: tmp_path / f"{source}.parquet" for source in sources}
    for source, frame in sources.items():
        write_table(frame, paths[source], ITEMS, footer_of({"source": source}))
    choice = choose(task_types(sources, dict.fromkeys(sources, "category")), 5, None)
    monkeypatch.setattr("benchc.sources.pool.ITEMS_AT_ONCE", 3)
    parts = list(pool_rows(choice, paths))
    assert len(parts) == 4 and all(part.height <= 3 for part in parts)
    assert pl.concat(parts).equals(assemble(choice, sources))


def test_images_of_several_sources_are_listed_with_all_their_items() -> None:
    images = pl.DataFrame(
        [
            ("b", "b/1", "p"),
            ("a", "a/2", "p"),
            ("a", "a/2", "p"),  # twice in one item
            ("a", "a/1", "q"),
            ("a", "a/3", "r"),  # in one source alone, twice
            ("a", "a/4", "r"),
            ("c", "c/1", "q"),
            ("a", "a/9", "p"),
        ],
        schema=["source", "id", "pixels"],
        orient="row",
    )
    found = shared_pixels(images, pl.Series(["a/1", "b/1"]))
    assert found.rows() == [
        ("q", "a", "a/1", True),
        ("q", "c", "c/1", False),
        ("p", "a", "a/2", False),
        ("p", "a", "a/9", False),
        ("p", "b", "b/1", True),
    ]
    assert shared_pixels(images.filter(source="a"), pl.Series(["a/1"])).is_empty()


def test_open_questions_pass_through() -> None:
    open_ones = items("s", {"count": 2}).with_columns(
        options=pl.lit([], dtype=pl.List(pl.String)), answer=pl.lit(None, dtype=pl.Int64)
    )
    sources = {"s": open_ones, "t": items("t", {"count": 2})}
    pool = assemble(choose(task_types(sources, dict.fromkeys(sources, "category")), None, None), sources)
    assert pool["options"].to_list() == [[], [], ["yes", "no"], ["yes", "no"]]
    assert pool["answer"].to_list() == [None, None, 0, 1]


def test_the_command_line(tmp_path: Path) -> None:
    write_table(items("a", {"count": 9}), tmp_path / "a.parquet", ITEMS, footer_of({"source": "a"}))
    write_table(
        items("b", {"place": 2, "count": 1}), tmp_path / "b.parquet", ITEMS, footer_of({"source": "b"})
    )
    files = {"parquet": tmp_path / "pool.parquet", "report": tmp_path / "pool.csv"}
    sources = {"sources": [tmp_path / "a.parquet", tmp_path / "b.parquet"]}
    columns = {"task_columns": {"b": "category", "a": "category"}}
    result = run_stage("pool", **sources, **columns, total=6, **files)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "pool: 6 of 12 items, 2 task types, at most 4 items each\n"
    assert (
        tmp_path / "pool.csv"
    ).read_text() == 'task,sources,available,taken\ncount,"a,b",10,4\nplace,b,2,2\n'
    assert read_table(tmp_path / "pool.parquet", POOL).height == 6
    assert read_footer(tmp_path / "pool.parquet") == {"cap": 4}
    refused = run_stage("pool", **sources, **columns, total=1, **files)
    assert refused.returncode == 1
    assert "pool.total is 1" in refused.stderr and "Traceback" not in refused.stderr
    for wrong, status, message in (
        (
            {"task_columns": {"a": "category"}},
            1,
            "--sources has a, b, --task-columns has a; give",
        ),
        (
            {"task_columns": {"a": "category", "b": "task"}},
            2,
            "b: Input should be 'category'",
        ),
        ({"total": -1}, 2, "it should be at least 1"),
        (
            {"sources": [tmp_path / "a.parquet"] * 2},
            1,
            "error: --sources: two of the files have the same source; give one file per source",
        ),
    ):
        refused = run_stage("pool", **{**sources, **columns, **files, **wrong})
        assert refused.returncode == status and message in refused.stderr
        assert refused.stderr.startswith("error: ") and refused.stderr.count("\n") == 1
