"""The selectors' predictions are found by their folders, and all others are refused."""

from pathlib import Path

import pytest

from benchc.benchmarks.bench_c.selection.selector_predictions import read_by_selector, read_option_counts
from benchc.errors import InputError
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from tests.benchmarks.bench_c.outputs import write_filled
from tests.footers import footer_of


def written(folder: Path, selector: str, part: str, ids: list[str]) -> Path:
    columns = {"id": ids, "corruption": "fog", "severity": 1, "logits": [[0.0, 1.0]] * len(ids)}
    path = folder / selector / f"{part}.parquet"
    write_filled(columns, path, PREDICTIONS, footer_of({"model": selector}))
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
    columns = {"id": ["z", "y"], "options": [["1", "2", "3"], ["1", "2"]]}
    write_filled(columns, tmp_path / "pool.parquet", POOL)
    assert read_option_counts(tmp_path / "pool.parquet").rows() == [("z", 3), ("y", 2)]
