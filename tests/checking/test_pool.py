from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchc.checking.finding import Finding
from benchc.checking.pool import PoolFound, check_pool, generated_sample
from benchc.checking.sources import check_sources, draw_of
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.sources.vlmevalkit import read_vlmevalkit
from tests.checking.collected import collected, lines
from tests.checking.runs import config_of
from tests.footers import footer_of
from tests.sources.tsv_files import encoded, image_bytes, row, write_tsv
from tests.stages import call_stage

TASKS = ("colour", "shape", "size")


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    for name, count in (("one", 12), ("two", 9)):
        tasks = [(number, TASKS[number % len(TASKS)]) for number in range(count)]
        rows = [row(n, image=encoded(image_bytes((n, 0, 0))), category=task) for n, task in tasks]
        write_tsv(folder / f"{name}.tsv", rows)


LOCAL = {"one": {"path": "one.tsv"}, "two": {"path": "two.tsv"}}
FAR = {"far": {"url": "http://127.0.0.1:9/far.tsv"}}


def checked(sources: dict[str, Any] = LOCAL, **blocks: Any) -> tuple[list[Finding], PoolFound]:
    config = config_of(sources, **blocks)
    return collected(check_pool(config, collected(check_sources(config))[1]))


@pytest.mark.parametrize("limits", [{"per_task": 4, "total": None}, {"per_task": None, "total": 10}])
def test_it_is_the_pool_of_the_run(limits: dict[str, int]) -> None:
    found, pool = checked(pool=limits)
    for name in LOCAL:
        items, _ = read_vlmevalkit(f"{name}.tsv", name)
        write_table(items, f"{name}.parquet", ITEMS, footer_of({"source": name}))
    sources = {"sources": ["one.parquet", "two.parquet"], "task_columns": dict.fromkeys(LOCAL, "category")}
    call_stage("pool", **sources, **limits, parquet="pool.parquet", report="report.csv")
    made = read_table("pool.parquet", POOL)
    assert pool.size is not None
    assert pool.texts.equals(made.drop("images").select(pool.texts.columns))
    assert pool.size.pool.value == made.height
    assert sorted(pool.size.images["id"]) == sorted(made["id"])
    report = pl.read_csv("report.csv").rows()
    counts = [(f"{taken} of {available}", task) for task, _, available, taken in report]
    assert [(each.subject, each.text.split(" ")[0]) for each in found[:-1]] == counts
    # The sample is of the pool, and of both sources.
    assert pool.sample.height == 3 and set(pool.sample["source"]) == set(LOCAL)
    assert pool.sample.equals(pool.sample.join(made, on="id", how="semi"))
    assert pool.sample["images"].list.len().min() == 1


def test_a_pool_without_some_sources_has_no_size() -> None:
    found, pool = checked(LOCAL | FAR)
    assert lines(found, "skipped") == ["all: 12 of 21 items, at most 4 per task type, without far"]
    assert pool.size is None and pool.texts.height == 12


@pytest.mark.parametrize(
    ("per_task", "total", "text"),
    [
        (7, None, "21 of 21 items, at most 7 per task type"),
        (16, None, "21 of 21 items, at most 16 per task type; the largest task type has 7"),
        (None, None, "21 of 21 items, the largest task type has 7"),
        (16, 10, "9 of 21 items, at most 3 per task type"),
    ],
)
def test_the_limit_of_a_task_type_is_the_one_configured(per_task, total, text):
    found, _ = checked(pool={"per_task": per_task, "total": total})
    assert (found[-1].subject, found[-1].text) == ("all", text)


def test_limits_that_make_no_pool_are_an_error() -> None:
    (found,), pool = checked(pool={"per_task": None, "total": 2})
    assert (found.level, found.subject) == ("error", "all")
    assert (
        found.text
        == "pool.total is 2, but there are 3 task types, and each needs an item; set it to 3 or more"
    )
    # Corruptions and models are tried all the same.
    assert pool.size is None and pool.ids == set() and pool.sample.height == 3


def test_without_sources_the_sample_is_generated() -> None:
    found, pool = checked(FAR)
    assert lines(found, "skipped") == ["all: its size is unknown: no source can be read"]
    assert pool.texts.is_empty() and pool.sample.height == 3 and pool.options >= 2
    columns = {name: type_ for name, type_ in POOL.columns.items() if name != "images"}
    assert columns.items() <= generated_sample().texts.schema.items()


TWO = str([encoded(image_bytes((1, 2, 3))), encoded(image_bytes((3, 2, 1)))])


def sample(**sources: list[dict[str, str]]) -> list[str]:
    """Return the ids of the sample of a pool of these rows."""
    for name, rows in sources.items():
        write_tsv(Path(f"{name}.tsv"), rows)
    return checked({name: LOCAL[name] for name in sources})[1].sample["id"].to_list()


def test_the_sample_takes_turns_between_sources_by_images_and_options() -> None:
    one = [row(1), row(2, category="shape", C="c"), row(3, category="size", C="c", D="d", image=TWO)]
    other = [row(4), row(5, category="shape", C="c"), row(6, category="size")]
    assert sample(one=one, two=other) == ["one/3", "one/2", "two/5"]
    # Equal ones are taken by their ids.
    equal = [row(number, category=task) for number, task in zip((7, 9, 8), TASKS, strict=True)]
    assert sample(one=equal) == ["one/7", "one/8", "one/9"]


def test_the_sample_has_an_item_with_several_images() -> None:
    # An item of a task type of its own is always in the pool.
    rows = [row(number) for number in range(9)] + [row(99, image=TWO, category="pair", D="d", C="c")]
    assert "one/99" in sample(one=rows) and checked({"one": LOCAL["one"]})[1].options == 4


def test_time_is_measured_on_items_of_the_pool_drawn_by_hash() -> None:
    _, pool = checked(pool={"per_task": 4, "total": None})
    assert pool.drawn is not None
    assert set(pool.drawn["id"]) == set(sorted(pool.texts["id"], key=draw_of)[:3])
    assert pool.drawn["images"].list.len().to_list() == [1, 1, 1]
    assert generated_sample().drawn is None
