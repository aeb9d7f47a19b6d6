"""Predictions are those of the model of their folder, on the items of the pool."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchc.schemas.parquet import TableError, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.predictions import PREDICTIONS, check_predictions
from scripts.bench_c.kappa import kappa
from scripts.bench_c.score import score
from tests.footers import footer_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_table(pl.DataFrame(schema=POOL.columns), tmp_path / "pool.parquet", POOL)
    pool = pool_digest(tmp_path / "pool.parquet", QUESTION_COLUMNS)
    for model, facts in {
        "a": {"label": "a", "pool": pool},
        "b": {"label": "a", "pool": pool},
        "c": {"label": "c", "pool": "0" * 32},
        "d": {"label": "d", "pool": pool, "seed": 1, "alpha": "drop"},
        "e": {"label": "e", "pool": pool, "seed": 2, "alpha": "drop"},
        "f": {"label": "f", "pool": pool, "seed": 1, "alpha": "white"},
    }.items():
        write_table(
            pl.DataFrame(schema=PREDICTIONS.columns), tmp_path / model / "all", PREDICTIONS, footer_of(facts)
        )
    return tmp_path


WRONG = [
    ("b", r"b/all: its predictions are those of a, but its folder is b; delete it and run snakemake again$"),
    ("c", r"c/all: its predictions are not on the items of .*pool.parquet; delete it and run snakemake"),
]


def test_predictions_of_the_pool_by_the_model_of_their_folder_pass(folder: Path) -> None:
    pool = pool_digest(folder / "pool.parquet", QUESTION_COLUMNS)
    found = check_predictions([folder / "a/all", folder / "d/all"], folder / "pool.parquet")
    assert found == {"pool": pool, "seed": 1, "alpha": "drop"}


@pytest.mark.parametrize(("model", "message"), WRONG)
@pytest.mark.parametrize(("stage", "own"), [(score, {"subset": Path("none")}), (kappa, {"selectors": ["a"]})])
def test_other_predictions_are_refused_by_the_stages(
    folder: Path, stage: Callable[..., None], own: dict[str, Any], model: str, message: str
) -> None:
    files = {"predictions": [folder / model / "all"], "pool": folder / "pool.parquet"}
    with pytest.raises(TableError, match=message):
        stage(**files, **own, corruptions=["fog"], severities=[1], output=folder / "out")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("other", "problem"), [("e", "seed is 2, that .* is 1"), ("f", "alpha is white, that .* is drop")]
)
def test_selectors_on_different_images_are_refused(folder: Path, other: str, problem: str) -> None:
    with pytest.raises(TableError, match=f"^.*/{other}/all: its {problem}; delete the files of the wrong"):
        kappa(
            predictions=[folder / model / "all" for model in ("d", other)],
            pool=folder / "pool.parquet",
            selectors=["d", other],
            corruptions=["fog"],
            severities=[1],
            output=folder / "out",
        )
    assert not (folder / "out").exists()
