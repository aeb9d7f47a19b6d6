"""Which items the page shows: all, or the first samples in the order of a hash."""

from pathlib import Path

import polars as pl
import pytest

from benchc.schemas.page_items import PAGE_ITEMS
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET
from scripts.choose_page_items import choose_page_items

IDS = [f"s/{number}" for number in range(40)]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    absent = {name: pl.lit(None, dtype) for name, dtype in POOL.columns.items() if name != "id"}
    frame = pl.DataFrame({"id": IDS}).with_columns(**absent).select(*POOL.columns)
    write_table(frame, tmp_path / "pool.parquet", POOL)
    return tmp_path / "pool.parquet"


def chosen(pool: Path, samples: int, seed: int = 1, **given: object) -> list[tuple[str, str]]:
    output = pool.parent / "chosen.parquet"
    choose_page_items(pool=pool, samples=samples, seed=seed, output=output, **given)  # type: ignore[arg-type]
    return read_table(output, PAGE_ITEMS).rows()


def test_fewer_samples_are_some_of_more_and_stand_in_the_order_of_the_pool(pool: Path) -> None:
    every = chosen(pool, 100)
    assert every == [(id_, id_) for id_ in IDS]
    twenty, five = chosen(pool, 20), chosen(pool, 5)
    assert read_footer(pool.parent / "chosen.parquet")["candidates"] == 40
    assert len(twenty) == 20 and len(five) == 5 and {*five} < {*twenty}
    assert twenty == [row for row in every if row in twenty]
    # Not the first of the pool, and others by another seed.
    assert five != every[:5] and chosen(pool, 5, seed=2) != five


def test_items_of_the_files_given_are_candidates(pool: Path) -> None:
    paths = []
    for name, ids in (("a", IDS[:3]), ("b", IDS[2:5])):
        write_table(pl.DataFrame({"id": ids}), pool.parent / f"{name}.parquet", SUBSET)
        paths.append(pool.parent / f"{name}.parquet")
    assert [id_ for id_, _ in chosen(pool, 100, ids=tuple(paths))] == IDS[:5]
    assert read_footer(pool.parent / "chosen.parquet")["candidates"] == 5


def test_groups_stay_together(pool: Path) -> None:
    groups = pl.DataFrame({"id": IDS, "group": [f"g{number % 10}" for number in range(40)]})
    groups.write_parquet(pool.parent / "groups.parquet")
    found = chosen(pool, 3, groups=pool.parent / "groups.parquet")
    assert len(found) == 12 and len({sample for _, sample in found}) == 3
    assert all(sample == f"g{int(id_[2:]) % 10}" for id_, sample in found)
    assert read_footer(pool.parent / "chosen.parquet")["candidates"] == 10
