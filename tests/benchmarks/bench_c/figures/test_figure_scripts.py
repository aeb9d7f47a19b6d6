import sys
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.errors import InputError
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, selection


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ids = ["mmstar/0", "mmstar/1", "world/0", "world/1"]
    items = pl.DataFrame(
        {
            "id": ids,
            "question": ["?"] * 4,
            "hint": [None] * 4,
            "options": [["a", "b"]] * 4,
            "answer": [0] * 4,
            "category": ["map", "web", "map", "map"],
            "l2_category": ["x"] * 4,
            "images": [[{"bytes": b"", "path": None}]] * 4,
            "image_keys": [[f"{id_}#0"] for id_ in ids],
        },
        schema=dict(ITEMS.columns),
    )
    for source in ("mmstar", "world"):
        part = items.filter(pl.col("id").str.starts_with(source))
        write_table(part, tmp_path / f"sources/{source}.parquet", ITEMS)
    pool = items.with_columns(
        source=pl.col("id").str.split("/").list.first(), task=pl.col("category")
    ).select(list(POOL.columns))
    write_table(pool, tmp_path / "pool.parquet", POOL)
    write_table(
        selection([0.0, 0.2, 0.3, 0.4], [False, False, True, True], ids),
        tmp_path / "selected.parquet",
        SELECTED,
    )
    for seed, model in enumerate(("one", "two")):
        write_table(drawn_scores(6, ["snow", "fog"], seed), tmp_path / f"scores/{model}.parquet", SCORES)
    return tmp_path


SELECTION = ["--selected", "selected.parquet"]
POOL_AND_SELECTION = ["--pool", "pool.parquet", *SELECTION]
ARGUMENTS = {
    "figure1a": SELECTION,
    "figure4": [
        *["--scores", "scores/one.parquet", "--label", "One"],
        *["--corruption", "snow", "--severity", "5"],
    ],
    "figure6": [
        *["--scores", "scores/one.parquet", "scores/two.parquet", "--labels", "One", "Two"],
        *["--corruptions", "snow", "fog", "--families", "weather", "weather"],
    ],
    "figure7": [
        *["--sources", "sources/mmstar.parquet", "sources/world.parquet"],
        *["--source-labels", "MMStar", "World", *POOL_AND_SELECTION],
    ],
    "figure8": POOL_AND_SELECTION,
}


def run(name: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [name, *arguments, "--png", "out/f.png", "--pdf", "out/f.pdf"])
    import_module(f"scripts.{name}").main()


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_command_writes_both_files(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    run(name, ARGUMENTS[name], monkeypatch)
    assert (folder / "out/f.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "out/f.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("figure6", "Two", "One", "--labels: give one name to each file of --scores, no name twice"),
        ("figure6", "fog", "fog blur", "--families: give one family to each corruption"),
        ("figure7", "MMStar", "", "--source-labels: give one name to each file of --sources"),
    ],
)
def test_lists_that_do_not_match_are_refused(
    name: str,
    old: str,
    new: str,
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(folder)
    changed = [
        part for argument in ARGUMENTS[name] for part in (new.split() if argument == old else [argument])
    ]
    with pytest.raises((SystemExit, InputError)) as stop:
        run(name, changed, monkeypatch)
    assert message in f"{stop.value}{capsys.readouterr().err}"
    assert not (folder / "out").exists()


def test_figures_import_neither_metrics_nor_each_other():
    modules = ("figure1a", *(f"figure{number}" for number in range(3, 11)))
    for module in modules:
        source = Path(import_module(f"benchc.benchmarks.bench_c.figures.{module}").__file__).read_text()
        others = [other for other in modules if other != module]
        assert not any(f"benchc.benchmarks.bench_c.figures.{other} " in source for other in others)
        assert "bench_c.metrics" not in source and "pyplot" not in source
