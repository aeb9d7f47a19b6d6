"""Tables are printed by one command, of files and settings, each format whole or not at all."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.schemas.parquet import write_table
from scripts import command
from scripts import table as script
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, selection
from tests.benchmarks.bench_c.outputs import write_models

ROOT = Path(__file__).resolve().parents[4]
TABLES = "benchc.benchmarks.bench_c.tables"
ENDINGS = {"csv": ".csv", "md": ".md", "tex": ".tex", "published": "_published.csv"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, model in enumerate(("one", "two")):
        write_table(drawn_scores(3, ["snow"], seed), tmp_path / f"{model}.parquet", SCORES)
    write_table(selection([0.1, 0.2, 0.3], [True] * 3), tmp_path / "selected.parquet", SELECTED)
    write_models(tmp_path / "models.json", {"one": "One", "two": "Two"})
    return tmp_path


def run(
    folder: Path, name: str, *arguments: str, models: str = "models.json"
) -> subprocess.CompletedProcess[str]:
    """Run the command for a table of the scores of both models."""
    line = [sys.executable, "-m", "scripts.table", f"{TABLES}.{name}", "--output", str(folder / name)]
    line += ["--input", "scores", *(str(folder / f"{model}.parquet") for model in ("one", "two"))]
    line += ["--input", "models", str(folder / models), *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True)


def test_the_forms_replace_old_ones(folder: Path) -> None:
    models = [
        '{"id": "one", "label": "One", "year": 2025, "parameters_b": null}',
        '{"id": "two", "label": "Two", "year": null, "parameters_b": 7.5}',
    ]
    line = [sys.executable, "-m", "scripts.describe_models", "--benchmark", "bench-c", "--models", *models]
    subprocess.run([*line, "--output", str(folder / "models.json")], cwd=ROOT, check=True)
    for format, ending in ENDINGS.items():
        (folder / f"table1{ending}").write_text("old")
        # A second name of the old file: it stays as it was where the new one is not written into it.
        (folder / f"kept.{format}").hardlink_to(folder / f"table1{ending}")
    selected = ["--input", "selected", str(folder / "selected.parquet")]
    result = run(folder, "table1", *selected, "--formats", *ENDINGS)
    assert result.returncode == 0, result.stderr
    assert result.stderr.endswith("table 1: 2 targets on 3 items\n")
    table = pl.read_csv(folder / "table1.csv")
    assert sorted(table.select("model", "label", "year", "parameters_b", "items").rows()) == [
        ("one", "One", 2025, None, 3),
        ("two", "Two", None, 7.5, 3),
    ]
    assert "| Two " in (folder / "table1.md").read_text()
    assert r"\toprule" in (folder / "table1.tex").read_text()
    assert (folder / "table1_published.csv").read_text() not in ("", "old")
    assert [(folder / f"kept.{format}").read_text() for format in ENDINGS] == ["old"] * 4


def test_errors_are_one_line_and_nothing_is_written(folder: Path) -> None:
    (folder / "one.json").write_text((folder / "models.json").read_text().replace('"two"', '"three"'))
    lacks = "error: the output lacks the settings centring; its settings are: centring"
    wrong = 'error: --set centring: "all" is not valid'
    unnamed = f"error: {folder}/one.json: it lists one, three, and {folder}/two.parquet is of none of them"
    for name, arguments, models, message in (
        ("table2", [], "models.json", lacks),
        ("table2", ["--set", 'centring="all"'], "models.json", wrong),
        ("table3", [], "one.json", unnamed),
        ("table3", [], "no.json", f"error: {folder}/no.json: there is no such file; run snakemake again"),
    ):
        result = run(folder, name, *arguments, models=models)
        assert result.returncode == 1 and result.stdout == ""
        assert result.stderr.startswith(message) and result.stderr.count("\n") == 1
        assert not list(folder.glob("table*"))


def test_a_form_that_a_table_lacks_and_a_figure_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    scores = ["--input", "scores", "one.parquet", "--input", "models", "models.json"]
    for arguments, message in (
        ([f"{TABLES}.cells", *scores], "has no format md; remove it from --formats"),
        (
            ["benchc.benchmarks.bench_c.figures.figure1a", "--input", "selected", "selected.parquet"],
            "does not return a table; use scripts.figure for figures",
        ),
    ):
        monkeypatch.setattr(sys, "argv", ["table", *arguments, "--output", "out/t"])
        with pytest.raises(SystemExit, match=f"^error: .*{message}$"):
            command.run(script.main)
