"""Targets from scores and models.json: names, order, and items."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.targets import Targets, excluded_items, excluded_note, read_targets
from benchc.errors import InputError
from benchc.schemas.parquet import write_table
from tests.benchmarks.bench_c.metrics.score_tables import scored
from tests.benchmarks.bench_c.outputs import write_models
from tests.footers import footer_of

MODELS = {"a": "Model A", "b": "Model B", "c": "Model C"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_models("models.json", MODELS)
    return tmp_path


def write(path: str, seed: int, *without: str, footer: Mapping[str, object] | None = None) -> pl.DataFrame:
    """Write the scores of the items s/0 to s/4, except ``without``."""
    table = scored(5, seed).filter(~pl.col("id").is_in(without))
    write_table(table, Path(path), SCORES, footer_of(footer or {"items": 5}))
    return table


def targets_of(*paths: str) -> Targets:
    return read_targets([Path(path) for path in paths], Path("models.json"))


def test_targets_come_in_the_order_of_the_files_each_with_its_name(folder, capsys):
    tables = {id_: write(f"{id_}.parquet", seed) for seed, id_ in enumerate("abc")}
    found = targets_of("c.parquet", "a.parquet")  # fewer than models.json names
    assert list(found.scores) == list(found.models) == ["c", "a"]
    assert all(found.scores[id_].equals(tables[id_]) for id_ in "ca")
    assert found.labels == {"c": "Model C", "a": "Model A"}
    assert list(found.by_label) == ["Model C", "Model A"]
    assert found.by_label["Model C"].equals(tables["c"])
    assert list(found.cube.models) == ["c", "a"]
    assert (found.items, found.excluded, found.note) == (5, 0, "")
    assert "excluded" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("paths", "problem"),
    [
        (("a.parquet", "d.parquet"), r"d\.parquet is of none of them"),
        (("a.parquet", "other/a.parquet"), "two files are of one model"),
    ],
)
def test_files_of_other_models_are_refused(folder, paths, problem):
    for path in paths:
        write(path, 0)
    message = rf"^models\.json: it lists a, b, c, and {problem}; give the scores of"
    with pytest.raises(InputError, match=message):
        targets_of(*paths)


def test_two_models_of_one_label_are_refused(folder):
    write_models("models.json", {"a": "Same", "b": "Same"})
    for name in "ab":
        write(f"{name}.parquet", 0)
    with pytest.raises(InputError, match=r"have one label, 'Same'; give"):
        targets_of("a.parquet", "b.parquet")


def test_excluded_items_are_counted_from_the_footers():
    assert excluded_items([{"items": 6}, {"items": 6}], 6) == 0
    assert excluded_items([{"items": 6}, {"items": 4, "missing_items": 2}], 3) == 3
    assert excluded_note(1_000, 0) == ""
    assert excluded_note(1_000, 234).startswith(" On 1,000 of 1,234 items: ")


FACTS = {"items": 5, "pool": "0" * 32, "seed": 1, "alpha": "drop"}


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({}, None),
        ({"label": "c"}, "its scores are those of c; delete it and run snakemake again$"),
        ({"pool": "1" * 32}, "its pool is 1+, that of the files before is 0+; delete the files of the wrong"),
        ({"seed": 2}, "its seed is 2, that of the files before is 1; delete"),
        ({"alpha": "white"}, "its alpha is white, that of the files before is drop; delete"),
    ],
)
def test_scores_of_another_model_or_run_are_refused(folder, facts, problem):
    write("a.parquet", 0, footer={**FACTS, "label": "a"})
    write("b.parquet", 1, footer={**FACTS, "label": "b", **facts})
    with pytest.raises(InputError, match=f"^b.parquet: {problem}") if problem else nullcontext():
        assert list(targets_of("a.parquet", "b.parquet").scores) == ["a", "b"]
