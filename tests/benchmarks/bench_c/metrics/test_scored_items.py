"""Items of a subset, as scoring takes them."""

from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.scored_items import read_scored_items
from benchc.errors import InputError
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET
from tests.benchmarks.bench_c.outputs import write_filled


def test_items_are_in_the_order_of_the_pool_and_those_that_it_lacks_are_refused(tmp_path: Path) -> None:
    pool, subset = tmp_path / "pool.parquet", tmp_path / "subset.parquet"
    options = [["a", "b"], ["a", "b", "c"], ["a", "b"]]
    write_filled({"id": ["s/3", "s/1", "s/2"], "options": options, "answer": [1, 2, 0]}, pool, POOL)
    write_table(pl.DataFrame({"id": ["s/1", "s/3"]}), subset, SUBSET)
    assert read_scored_items(pool, subset).rows() == [("s/3", 1, 2), ("s/1", 2, 3)]
    write_table(pl.DataFrame({"id": ["s/1", "s/8", "s/9"]}), subset, SUBSET)
    with pytest.raises(
        InputError, match=r"subset\.parquet: 2 items not in .*pool\.parquet, first s/8; rerun"
    ):
        read_scored_items(pool, subset)
