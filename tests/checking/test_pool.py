"""The pool is that of the run, and the sample on which models are tried shows its variety."""

from pathlib import Path

import polars as pl
import pytest

from benchc.checking.pool import check_pool, generated_sample
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
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, count in (("one", 12), ("two", 9)):
        rows = [
            row(number, image=encoded(image_bytes((number, 0, 0))), category=TASKS[number % len(TASKS)])
            for number in range(count)
        ]
        write_tsv(tmp_path / f"{name}.tsv", rows)
    return tmp_path


LOCAL = {"one": {"path": "one.tsv"}, "two": {"path": "two.tsv"}}


@pytest.mark.parametrize("limits", [{"per_task": 4, "total": None}, {"per_task": None, "total": 10}])
def test_it_is_the_pool_of_the_run(folder: Path, limits: dict[str, int]) -> None:
    config = config_of(LOCAL, pool=limits)
    items = collected(check_sources(config))[1]
    found, pool = collected(check_pool(config, items))
    for name in LOCAL:
        write_table(
            read_vlmevalkit(f"{name}.tsv", name)[0], f"{name}.parquet", ITEMS, footer_of({"source": name})
        )
    call_stage(
        "pool",
        sources=["one.parquet", "two.parquet"],
        task_columns={"one": "category", "two": "category"},
        **limits,
        parquet="pool.parquet",
        report="report.csv",
    )
    made = read_table("pool.parquet", POOL)
    assert pool.size is not None
    assert pool.texts.equals(made.drop("images").select(pool.texts.columns))
    assert pool.size.pool.value == made.height
    assert sorted(pool.size.images["id"]) == sorted(made["id"])
    counts = [
        (f"{taken} of {available}", task) for task, _, available, taken in pl.read_csv("report.csv").rows()
    ]
    assert [(each.subject, each.text.split(" ")[0]) for each in found[:-1]] == counts
    # The sample is of the pool, and of both sources.
    assert pool.sample.height == 3 and set(pool.sample["source"]) == set(LOCAL)
    assert pool.sample.equals(pool.sample.join(made, on="id", how="semi"))
    assert pool.sample["images"].list.len().min() == 1


def test_a_pool_without_some_sources_has_no_size(folder: Path) -> None:
    config = config_of(LOCAL | {"far": {"url": "http://127.0.0.1:9/far.tsv"}})
    items = collected(check_sources(config))[1]
    found, pool = collected(check_pool(config, items))
    assert lines(found, "skipped") == ["all: 12 of 21 items, at most 4 per task type, without far"]
    assert pool.size is None and pool.texts.height == 12


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"per_task": 7, "total": None}, "21 of 21 items, at most 7 per task type"),
        (
            {"per_task": 16, "total": None},
            "21 of 21 items, at most 16 per task type; the largest task type has 7",
        ),
        ({"per_task": None, "total": None}, "21 of 21 items, the largest task type has 7"),
        ({"per_task": 16, "total": 10}, "9 of 21 items, at most 3 per task type"),
    ],
)
def test_the_limit_of_a_task_type_is_the_one_configured(limits: dict[str, int | None], text: str) -> None:
    config = config_of(LOCAL, pool=limits)
    found, _ = collected(check_pool(config, collected(check_sources(config))[1]))
    assert (found[-1].subject, found[-1].text) == ("all", text)


def test_limits_that_make_no_pool_are_an_error() -> None:
    config = config_of(LOCAL, pool={"per_task": None, "total": 2})
    items = collected(check_sources(config))[1]
    found, pool = collected(check_pool(config, items))
    assert lines(found) == [
        "all: pool.total is 2, but there are 3 task types, and each needs an item; set it to 3 or more"
    ]
    assert found[0].level == "error"
    # Corruptions and models are tried all the same.
    assert pool.size is None and pool.ids == set() and pool.sample.height == 3


def test_without_sources_the_sample_is_generated() -> None:
    found, pool = collected(check_pool(config_of({"far": {"url": "http://127.0.0.1:9/far.tsv"}}), {}))
    assert lines(found, "skipped") == ["all: its size is unknown: none of the sources is here"]
    assert pool.texts.is_empty() and pool.sample.height == 3 and pool.options >= 2


def sample(**sources: list[dict[str, str]]) -> list[str]:
    """Return the ids of the sample of a pool of these rows."""
    for name, rows in sources.items():
        write_tsv(Path(f"{name}.tsv"), rows)
    config = config_of({name: {"path": f"{name}.tsv"} for name in sources})
    return collected(check_pool(config, collected(check_sources(config))[1]))[1].sample["id"].to_list()


def test_an_empty_pool_has_the_columns_of_any(folder: Path) -> None:
    texts = generated_sample().texts
    assert texts.height == 0
    assert {
        name: type_ for name, type_ in POOL.columns.items() if name != "images"
    }.items() <= texts.schema.items()


def test_the_sample_takes_turns_between_sources_by_images_and_options(folder: Path) -> None:
    two = str([encoded(image_bytes((1, 2, 3))), encoded(image_bytes((3, 2, 1)))])
    one = [
        row(1, category="colour"),
        row(2, category="shape", C="c"),
        row(3, category="size", C="c", D="d", image=two),
    ]
    other = [row(4, category="colour"), row(5, category="shape", C="c"), row(6, category="size")]
    assert sample(one=one, two=other) == ["one/3", "one/2", "two/5"]
    # Equal ones are taken by their ids.
    equal = [row(number, category=task) for number, task in zip((7, 9, 8), TASKS, strict=True)]
    assert sample(one=equal) == ["one/7", "one/8", "one/9"]


def test_the_sample_has_an_item_with_several_images(folder: Path) -> None:
    two = str([encoded(image_bytes((1, 2, 3))), encoded(image_bytes((3, 2, 1)))])
    # An item of a task type of its own is always in the pool.
    write_tsv(
        folder / "one.tsv",
        [row(number, image=encoded(image_bytes())) for number in range(9)]
        + [row(99, image=two, category="pair", D="d", C="c")],
    )
    config = config_of({"one": {"path": "one.tsv"}})
    _, pool = collected(check_pool(config, collected(check_sources(config))[1]))
    assert "one/99" in pool.sample["id"] and pool.options == 4


def test_time_is_measured_on_items_of_the_pool_drawn_by_hash(folder: Path) -> None:
    config = config_of(LOCAL, pool={"per_task": 4, "total": None})
    items = collected(check_sources(config))[1]
    pool = collected(check_pool(config, items))[1]
    assert pool.drawn is not None
    assert set(pool.drawn["id"]) == set(sorted(pool.texts["id"], key=draw_of)[:3])
    assert pool.drawn["images"].list.len().to_list() == [1, 1, 1]
    assert generated_sample().drawn is None
