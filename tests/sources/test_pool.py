from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.errors import InputError
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.sources.item_order import item_key
from benchc.sources.pool import assemble, choose, largest_cap, pool_rows, shared_pixels, task_types
from tests.footers import footer_of
from tests.stages import call_stage


def items(source: str, tasks: dict[str, int]) -> pl.DataFrame:
    """Return items of a source, with the given number of each task, in the column ``category``."""
    names = [task for task, count in tasks.items() for _ in range(count)]
    rows = [
        (
            *(f"{source}/{index}", f"Question {index}?", None, ["yes", "no"], index % 2, name, f"l2 {name}"),
            *([{"bytes": b"image %d" % index, "path": None}], [f"{source}/{index}#0"]),
        )
        for index, name in enumerate(names)
    ]
    return pl.DataFrame(rows, schema=pl.Schema(ITEMS.columns), orient="row")


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


# The cap of 5, 3 and 9 items by per_task and total; 11 is 4 + 3 + 4, and 10 is less.
CAPS = {(None, None): 9, (4, None): 4, (100, None): 9, (None, 17): 9, (None, 16): 8, (None, 11): 4}
CAPS |= {(None, 10): 3, (2, 10): 2, (None, 3): 1}


def test_largest_cap() -> None:
    assert {limits: largest_cap([5, 3, 9], *limits) for limits in CAPS} == CAPS
    with pytest.raises(ValueError, match=r"pool\.total is 2, but there are 3 task types"):
        largest_cap([5, 3, 9], None, 2)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(8, 200))
def test_the_cap_fits_and_the_next_one_does_not(counts: list[int], total: int) -> None:
    cap = largest_cap(counts, None, total)
    assert sum(min(count, cap) for count in counts) <= total
    assert cap == max(counts) or sum(min(count, cap + 1) for count in counts) > total


def test_tasks_are_balanced_over_all_sources() -> None:
    choice = choose(tasks_of({"count": 6, "place": 2}, {"count": 5, "colour": 9}), 4, None)
    report = [("colour", "s1", 9, 4), ("count", "s0,s1", 11, 4), ("place", "s0", 2, 2)]
    assert (choice.report.rows(), choice.cap) == (report, 4)
    taken = choice.items["task"].value_counts().sort("task").rows()
    assert taken == [(task, number) for task, _, _, number in report]


@given(st.integers(1, 12), st.integers(1, 12))
def test_a_smaller_cap_keeps_a_subset(one: int, other: int) -> None:
    tasks = tasks_of({"count": 12, "place": 7}, {"count": 5})
    fewer, more = (set(choose(tasks, cap, None).items["id"]) for cap in sorted((one, other)))
    assert fewer <= more


def test_the_choice_is_not_the_first_rows_and_depends_on_no_order() -> None:
    tasks = tasks_of({"count": 200}, {"place": 7})
    taken = choose(tasks, 20, None).items
    indices = [int(id_.partition("/")[2]) for id_ in taken.filter(source="s0")["id"]]
    assert indices == sorted(indices) and max(indices) > 100
    for seed in range(2):
        assert choose(tasks.sample(fraction=1, shuffle=True, seed=seed), 20, None).items.equals(taken)


def test_items_without_a_task_and_repeated_ids_are_refused() -> None:
    frame = items("s", {"count": 3})
    without = frame.with_columns(l2_category=pl.lit(None, pl.String))
    with pytest.raises(ValueError, match="source s: 3 items without l2_category, first s/0; set task_column"):
        task_types({"s": without}, {"s": "l2_category"})
    with pytest.raises(ValueError, match="the id s/0 occurs twice"):
        task_types({"s": pl.concat([frame, frame])}, {"s": "category"})


def test_the_pool_contains_the_items_unchanged_in_the_order_of_source_and_integer_index() -> None:
    open_ended = {"options": pl.lit([], dtype=pl.List(pl.String)), "answer": pl.lit(None, dtype=pl.Int64)}
    sources = {"b": items("b", {"count": 3}).with_columns(**open_ended), "a": items("a", {"place": 12})}
    choice = choose(task_types(sources, {"a": "l2_category", "b": "category"}), None, None)
    pool = assemble(choice, sources)
    assert dict(pool.schema) == dict(pl.Schema(POOL.columns))
    assert pool["task"].to_list() == ["l2 place"] * 12 + ["count"] * 3
    assert pool.select(list(ITEMS.columns)).equals(pl.concat([sources["a"], sources["b"]]))
    ordered = ["a/-1", "a/9", "a/10", "a/x", "a/x0", "a/x9", "a/x10", "b/1"]
    for order in (sorted(ordered), sorted(ordered, reverse=True)):
        assert sorted(order, key=item_key) == ordered


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
    # a/2 has an image twice; "r" is in one source alone, twice.
    rows = ["b/1 p", "a/2 p", "a/2 p", "a/1 q", "a/3 r", "a/4 r", "c/1 q", "a/9 p"]
    keys = [(row[0], *row.split()) for row in rows]
    images = pl.DataFrame(keys, schema=["source", "id", "pixels"], orient="row")
    found = shared_pixels(images, pl.Series(["a/1", "b/1"]))
    places = [("q", "a/1"), ("q", "c/1"), ("p", "a/2"), ("p", "a/9"), ("p", "b/1")]
    assert found.rows() == [(pixels, id_[0], id_, id_ in ("a/1", "b/1")) for pixels, id_ in places]
    assert shared_pixels(images.filter(source="a"), pl.Series(["a/1"])).is_empty()


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for source, tasks in (("a", {"count": 9}), ("b", {"place": 2, "count": 1})):
        path = tmp_path / f"{source}.parquet"
        write_table(items(source, tasks), path, ITEMS, footer_of({"source": source}))
    given = {"parquet": tmp_path / "pool.parquet", "report": tmp_path / "pool.csv"}
    given["sources"] = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    given["task_columns"] = dict.fromkeys("ba", "category")
    call_stage("pool", **given, total=6)
    assert capsys.readouterr().out == "pool: 6 of 12 items, 2 task types, at most 4 items each\n"
    report = 'task,sources,available,taken\ncount,"a,b",10,4\nplace,b,2,2\n'
    assert (tmp_path / "pool.csv").read_text() == report
    assert read_table(tmp_path / "pool.parquet", POOL).height == 6
    assert read_footer(tmp_path / "pool.parquet") == {"cap": 4}
    for wrong, message in (
        ({"total": 1}, r"^pool\.total is 1"),
        ({"task_columns": {"a": "category"}}, "^--sources has a, b, --task-columns has a; give"),
        ({"sources": [tmp_path / "a.parquet"] * 2}, "^--sources: two of the files have the same source"),
    ):
        with pytest.raises(InputError, match=message):
            call_stage("pool", **given | wrong)
    for wrong, message in (
        ({"task_columns": {"a": "category", "b": "task"}}, "b: Input should be 'category'"),
        ({"total": -1}, "it should be at least 1"),
    ):
        with pytest.raises(SystemExit):
            call_stage("pool", **given | wrong)
        assert message in capsys.readouterr().err
