"""The selectors' predictions are found by their folders, and all others are refused."""

from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.selection.selector_predictions import read_by_selector, read_option_counts
from benchc.errors import InputError
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from tests.footers import footer_of


def written(folder: Path, selector: str, part: str, ids: list[str]) -> Path:
    row = {"corruption": "fog", "severity": 1, "logits": [0.0, 1.0], "label_mass": 1.0}
    hashes = {"prompt_hash": "p", "image_hash": "i"}
    frame = pl.DataFrame([{"id": id_, **row, **hashes} for id_ in ids], schema=dict(PREDICTIONS.columns))
    path = folder / selector / f"{part}.parquet"
    write_table(frame, path, PREDICTIONS, footer_of({"model": selector}))
    return path


def test_batches_are_joined_in_the_order_of_selectors(tmp_path: Path) -> None:
    paths = [written(tmp_path, "b", "two", ["3"]), written(tmp_path, "a", "one", ["1"])]
    paths += [written(tmp_path, "b", "one", ["2", "4"])]
    predictions = read_by_selector(paths, ["a", "b"])
    assert list(predictions) == ["a", "b"]
    assert predictions["b"]["id"].to_list() == ["3", "2", "4"]
    assert predictions["a"].columns == ["id", "corruption", "severity", "logits"]


@pytest.mark.parametrize(
    ("selectors", "sentence"),
    [
        (["a", "a"], "selectors: one occurs twice: a a; name each once"),
        (["b"], "its folder is named a, which is not one of the selectors b; leave the file out"),
        (["a", "b", "c"], "no file is in a folder named b or c; give the predictions of all 3 selectors"),
    ],
)
def test_files_of_other_models_are_refused(tmp_path: Path, selectors: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_by_selector([written(tmp_path, "a", "all", ["1"])], selectors)


def test_option_counts_come_in_the_order_of_the_pool(tmp_path: Path) -> None:
    pool = pl.DataFrame({"id": ["z", "y"], "options": [["1", "2", "3"], ["1", "2"]]})
    absent = {name: pl.lit(None, dtype) for name, dtype in POOL.columns.items() if name not in pool.columns}
    write_table(pool.with_columns(**absent).select(*POOL.columns), tmp_path / "pool.parquet", POOL)
    assert read_option_counts(tmp_path / "pool.parquet").rows() == [("z", 3), ("y", 2)]
