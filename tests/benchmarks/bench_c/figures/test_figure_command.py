"""Figures are drawn by one command, from files and settings; errors are one line."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from scripts import command
from scripts import figure as script
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, selection
from tests.benchmarks.bench_c.outputs import write_models

ROOT = Path(__file__).resolve().parents[4]


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
    write_models(tmp_path / "models.json", {"one": "One", "two": "Two"})
    return tmp_path


SELECTION = ["--input", "selected", "selected.parquet"]
POOL_AND_SELECTION = ["--input", "pool", "pool.parquet", *SELECTION]
ARGUMENTS = {
    "figure1a": SELECTION,
    "figure4": [
        *["--input", "scores", "scores/one.parquet"],
        *["--set", 'label="One"', 'corruption="snow"', "severity=5"],
    ],
    "figure6": [
        *[
            "--input",
            "scores",
            "scores/one.parquet",
            "scores/two.parquet",
            "--input",
            "models",
            "models.json",
        ],
        *["--set", 'groups={"snow": "weather", "fog": "weather"}'],
    ],
    "figure7": [
        *["--input", "sources", "sources/mmstar.parquet", "sources/world.parquet", *POOL_AND_SELECTION],
        *["--set", 'labels={"mmstar": "MMStar", "world": "World"}'],
    ],
    "figure8": POOL_AND_SELECTION,
}


def module_of(name: str) -> str:
    return f"benchc.benchmarks.bench_c.figures.{name}"


def run(name: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the command in this process and in the present folder."""
    monkeypatch.setattr(sys, "argv", ["figure", module_of(name), *arguments, "--output", "out/f"])
    command.run(script.main)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_figure_is_written_in_both_forms(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    run(name, ARGUMENTS[name], monkeypatch)
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["f.pdf", "f.png"]
    assert (folder / "out/f.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "out/f.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("figure4", "severity=5", 'severity="5"', 'error: --set severity: "5" is not valid'),
        ("figure4", "severity=5", "severity=five", "error: --set severity: five is not valid"),
        (
            "figure4",
            "severity=5",
            "level=5",
            "error: the output lacks the settings severity; its",
        ),
        ("figure4", "severity=5", "severity=5 level=5", "error: the output does not take the settings level"),
        ("figure4", "severity=5", "severity=5 severity=1", "error: --set: a setting is given twice"),
        ("figure4", "scores", "score", "error: the output lacks the inputs scores; its inputs are: scores"),
        (
            "figure4",
            "scores/one.parquet",
            "scores/one.parquet scores/two.parquet",
            "error: --input scores: 2 files are given; give one",
        ),
        (
            "figure6",
            "models.json",
            "models.json --input models models.json",
            "error: --input: an input is given",
        ),
        (
            "figure6",
            "scores/two.parquet",
            "scores/three.parquet",
            "error: models.json: it lists one, two",
        ),
        (
            "figure6",
            'groups={"snow": "weather", "fog": "weather"}',
            'groups={"snow":"weather"}',
            "error: figure 6: ",
        ),
        (
            "figure7",
            'labels={"mmstar": "MMStar", "world": "World"}',
            "labels=[]",
            "error: --set labels: [] is",
        ),
    ],
)
def test_errors_are_one_line_and_nothing_is_written(
    name: str, old: str, new: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder)
    changed = [part for text in ARGUMENTS[name] for part in (new.split() if text == old else [text])]
    with pytest.raises(SystemExit) as stop:
        run(name, changed, monkeypatch)
    assert str(stop.value).startswith(message) and "\n" not in str(stop.value)
    assert not (folder / "out").exists()


def test_the_command_line_ends_with_one_line(folder: Path):
    line = [sys.executable, "-m", "scripts.figure", module_of("figure1a")]
    line += ["--output", str(folder / "f")]
    for arguments, message in (
        (["--input", "selected", str(folder / "none.parquet")], f"error: {folder}/none.parquet: "),
        ([], "error: the output lacks the inputs selected; its inputs are: selected"),
    ):
        found = subprocess.run([*line, *arguments], cwd=ROOT, capture_output=True, text=True)
        assert found.returncode == 1 and found.stdout == ""
        assert found.stderr.startswith(message) and found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (module_of("figure99"), "error: there is no module benchc.benchmarks.bench_c.figures.figure99; name"),
        (module_of("regimes"), "error: .*regimes has no function regimes"),
        (
            "benchc.benchmarks.bench_c.tables.cells",
            "error: .*cells does not return a figure; use scripts.table for tables",
        ),
    ],
)
def test_what_is_no_figure_is_refused(
    module: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder)
    files = ["--input", "scores", "scores/one.parquet", "--input", "models", "models.json"]
    monkeypatch.setattr(sys, "argv", ["figure", module, *files, "--output", "out/f"])
    with pytest.raises(SystemExit, match=f"^{message}"):
        command.run(script.main)


def test_figures_import_neither_metrics_nor_each_other():
    modules = ("figure1a", *(f"figure{number}" for number in range(3, 11)))
    for module in modules:
        source = Path(import_module(module_of(module)).__file__).read_text()
        others = [other for other in modules if other != module]
        assert not any(f"{module_of(other)} " in source for other in others)
        assert "bench_c.metrics" not in source and "pyplot" not in source
