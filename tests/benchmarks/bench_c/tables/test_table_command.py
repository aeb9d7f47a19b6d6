"""Tables are stages of files and settings, whose formats are written whole or not at all."""

from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.schemas.models import Model, Models, models_text
from benchc.schemas.parquet import write_table
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, selection
from tests.benchmarks.bench_c.outputs import write_models
from tests.stages import run_stage
from tests.standings import standings_of

ENDINGS = {"csv": ".csv", "md": ".md", "tex": ".tex", "published": "_published.csv"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, model in enumerate(("one", "two")):
        write_table(drawn_scores(3, ["snow"], seed), tmp_path / f"{model}.parquet", SCORES)
    write_table(selection([0.1, 0.2, 0.3], [True] * 3), tmp_path / "selected.parquet", SELECTED)
    write_models(tmp_path / "models.json", {"one": "One", "two": "Two"})
    standings_of(["One", "Two"]).frame.write_csv(tmp_path / "chance.csv")
    return tmp_path


def run(folder: Path, name: str, models: str = "models.json", **more: Any) -> CompletedProcess[str]:
    """Run the stage of a table of the scores of both models."""
    scores = [folder / f"{model}.parquet" for model in ("one", "two")]
    chance = {} if name == "cells" else {"chance": folder / "chance.csv"}
    given = {"scores": scores, "models": folder / models, "prefix": folder / name, **chance, **more}
    return run_stage(f"bench_c.tables.{name}", **given)


def test_the_forms_replace_old_ones(folder: Path) -> None:
    one, two = Model("one", "One", 2025), Model("two", "Two", parameters_b=7.5)
    (folder / "models.json").write_text(models_text(Models("bench-c", {"one": one, "two": two})))
    for format, ending in ENDINGS.items():
        (folder / f"table1{ending}").write_text("old")
        # A second name of the old file: it stays as it was where the new one is not written into it.
        (folder / f"kept.{format}").hardlink_to(folder / f"table1{ending}")
    result = run(folder, "table1", selected=folder / "selected.parquet", formats=list(ENDINGS))
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
    unnamed = f"error: {folder}/one.json: it lists one, three, and {folder}/two.parquet is of none of them"
    absent = f"error: {folder}/no.json: there is no such file; run snakemake again"
    for name, status, message, more in (
        ("table2", 2, "error: Parameter --centring is missing; see ", {}),
        ("table2", 2, 'error: Invalid value "all" for --centring', {"centring": "all"}),
        ("table3", 1, unnamed, {"models": "one.json"}),
        ("table3", 1, absent, {"models": "no.json"}),
        ("cells", 1, "error: cells: has no format md; remove it from --formats", {}),
    ):
        result = run(folder, name, **more)
        assert (result.returncode, result.stdout) == (status, "")
        assert result.stderr.startswith(message) and result.stderr.count("\n") == 1
        assert not list(folder.glob("table*")) and not list(folder.glob("cells*"))
