import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.selection.unselected import unselected
from benchc.errors import InputError
from benchc.randomness import seed_of
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.subset import SUBSET
from scripts.bench_c.sample_unselected import sample_unselected


def selection(kept: list[bool]) -> pl.DataFrame:
    """A pool in which every third item has kappa 0 and was removed before selection."""
    rows = [
        (f"s/{item}", 0.0, None, None, False) if item % 3 == 0 else (f"s/{item}", 0.1 * item, item, 1.0, keep)
        for item, keep in enumerate(kept)
    ]
    return pl.DataFrame(rows, schema=dict(SELECTED.columns), orient="row")


POOL = selection([item % 2 == 0 for item in range(30)])
UNSELECTED = [id_ for id_, kept in POOL.select("id", "selected").iter_rows() if not kept]


def test_all_unselected_items_in_pool_order_with_those_of_kappa_0():
    table = unselected(POOL)
    assert dict(table.schema) == dict(SUBSET.columns)
    assert table["id"].to_list() == UNSELECTED
    kappas = POOL.filter(pl.col("id").is_in(table["id"].implode()))["kappa"]
    assert "s/0" in UNSELECTED and (kappas == 0).sum() == 10
    shuffled = POOL.sample(fraction=1, shuffle=True, seed=1)
    assert set(unselected(shuffled, 5)["id"]) == set(unselected(POOL, 5)["id"])


@given(st.integers(1, 40))
def test_a_larger_sample_extends_a_smaller_one(count: int):
    expected = sorted(UNSELECTED, key=lambda id_: seed_of("unselected", id_))[:count]
    found = unselected(POOL, count)["id"].to_list()
    assert found == [id_ for id_ in UNSELECTED if id_ in expected]
    assert set(found) <= set(unselected(POOL, count + 1)["id"])


def test_a_benchmark_of_the_whole_pool_is_refused():
    whole = POOL.with_columns(selected=pl.lit(True))
    with pytest.raises(InputError, match=r"all 30 items of the pool are selected.*random_subset to null"):
        unselected(whole)
    with pytest.raises(InputError, match="number of unselected items is 0"):
        unselected(POOL, 0)


@pytest.mark.parametrize(("at_most", "expected"), [(None, len(UNSELECTED)), (4, 4)])
def test_the_stage(tmp_path, capsys, at_most, expected):
    selected, output = tmp_path / "selected.parquet", tmp_path / "unselected.parquet"
    write_table(POOL, selected, SELECTED)
    sample_unselected(selected=selected, at_most=at_most, output=output)
    assert read_table(output, SUBSET).equals(unselected(POOL, expected))
    assert read_footer(output) == {"candidates": len(UNSELECTED)}
    assert f"{expected} of {len(UNSELECTED)} items" in capsys.readouterr().err
