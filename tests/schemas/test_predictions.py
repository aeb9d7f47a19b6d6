from pathlib import Path

import polars as pl
import pytest

from benchc.errors import InputError
from benchc.schemas.parquet import TableError, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.predictions import PREDICTIONS, ModelFooter, check_predictions
from benchc.schemas.shared_facts import tables_by_model
from scripts.bench_c.kappa import kappa
from scripts.bench_c.score import score
from tests.footers import footer_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_table(pl.DataFrame(schema=POOL.columns), tmp_path / "pool.parquet", POOL)
    pool = pool_digest(tmp_path / "pool.parquet", QUESTION_COLUMNS)
    images = {"d": (1, "drop"), "e": (2, "drop"), "f": (1, "white")}
    own = {
        "a": {},
        "b": {"label": "a"},
        "c": {"pool": "0" * 32},
        "g": {"label": "h"},
        "i": {"pool": "f" * 32},
    }
    own |= {model: {"seed": seed, "alpha": alpha} for model, (seed, alpha) in images.items()}
    for model, facts in own.items():
        footer = footer_of({"label": model, "pool": pool} | facts)
        write_table(pl.DataFrame(schema=PREDICTIONS.columns), tmp_path / model / "all", PREDICTIONS, footer)
    return tmp_path


WRONG = [
    ("b", r"b/all: its predictions are those of a, but its folder is b; delete it and run snakemake again$"),
    ("c", r"c/all: its predictions are not on the items of .*pool.parquet; delete it and run snakemake"),
    ("g", r"g/all: its predictions are those of h, but its folder is g; delete it"),
    ("i", r"i/all: its predictions are not on the items of .*pool.parquet; delete it"),
]


def test_predictions_of_the_pool_by_the_model_of_their_folder_pass(folder):
    pool = pool_digest(folder / "pool.parquet", QUESTION_COLUMNS)
    found = check_predictions([folder / "a/all", folder / "d/all"], folder / "pool.parquet")
    assert found == {"pool": pool, "seed": 1, "alpha": "drop"}


@pytest.mark.parametrize(("model", "message"), WRONG)
@pytest.mark.parametrize(("stage", "own"), [(score, {"subset": Path("none")}), (kappa, {"selectors": ["a"]})])
def test_other_predictions_are_refused_by_the_stages(folder, stage, own, model, message):
    files = {"predictions": [folder / model / "all"], "pool": folder / "pool.parquet"}
    with pytest.raises(TableError, match=message):
        stage(**files, **own, corruptions=["fog"], severities=[1], output=folder / "out")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("other", "problem"), [("e", "seed is 2, that .* is 1"), ("f", "alpha is white, that .* is drop")]
)
def test_selectors_on_different_images_are_refused(folder, other, problem):
    files = {"predictions": [folder / each / "all" for each in ("d", other)], "pool": folder / "pool.parquet"}
    with pytest.raises(TableError, match=f"^.*/{other}/all: its {problem}; delete the files of the wrong"):
        kappa(**files, selectors=["d", other], corruptions=["fog"], severities=[1], output=folder / "out")
    assert not (folder / "out").exists()


def test_a_footer_has_the_facts_of_the_identity_among_its_own() -> None:
    footer = ModelFooter(pool="p", identity={"model": "m", "dtype": "float32"}, label="a", oom_splits=0)
    expected = {"model": "m", "dtype": "float32", "pool": "p", "label": "a", "oom_splits": 0}
    assert footer.content() == expected


def test_tables_are_by_the_model_of_their_footer(folder: Path) -> None:
    files = [folder / "a/all", folder / "d/all"]
    found = tables_by_model(files, PREDICTIONS, "rows")
    assert {id_: (path, footer["label"]) for id_, (path, _, footer) in found.items()} == {
        **{"a": (files[0], "a"), "d": (files[1], "d")}
    }
    with pytest.raises(InputError, match=r"b/all: a second file of the rows of a; give one for each model"):
        tables_by_model([*files, folder / "b/all"], PREDICTIONS, "rows")
    for model, fact in (("c", "pool"), ("e", "seed"), ("f", "alpha")):
        with pytest.raises(TableError, match=f"{model}/all: its {fact} is .*that of the files before is"):
            tables_by_model([*files, folder / model / "all"], PREDICTIONS, "rows")
