"""The script writes Table 1 in three forms, each whole or not at all."""

import subprocess
import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.schemas.parquet import write_table
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, selection

ROOT = Path(__file__).resolve().parents[4]
FORMS = ("csv", "md", "tex")


def test_the_three_forms_take_the_place_of_old_ones(tmp_path: Path) -> None:
    for seed, model in enumerate(("one", "two")):
        write_table(drawn_scores(3, ["snow"], seed), tmp_path / f"{model}.parquet", SCORES)
    write_table(selection([0.1, 0.2, 0.3], [True] * 3), tmp_path / "selected.parquet", SELECTED)
    for form in FORMS:
        (tmp_path / f"table1.{form}").write_text("old")
        # A second name of the old file: it stays as it was where the new one is not written into it.
        (tmp_path / f"kept.{form}").hardlink_to(tmp_path / f"table1.{form}")
    command = [sys.executable, "-m", "scripts.table1", "--models", "one", "two", "--labels", "One", "Two"]
    command += ["--scores", *(str(tmp_path / f"{model}.parquet") for model in ("one", "two"))]
    command += ["--years", "2025", "unknown", "--parameters", "unknown", "7.5"]
    command += ["--selected", str(tmp_path / "selected.parquet")]
    for form in FORMS:
        command += [f"--output-{form}", str(tmp_path / f"table1.{form}")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    table = pl.read_csv(tmp_path / "table1.csv")
    assert sorted(table.select("model", "label", "year", "parameters_b", "items").rows()) == [
        ("one", "One", 2025, None, 3),
        ("two", "Two", None, 7.5, 3),
    ]
    assert "| Two " in (tmp_path / "table1.md").read_text()
    assert r"\toprule" in (tmp_path / "table1.tex").read_text()
    assert [(tmp_path / f"kept.{form}").read_text() for form in FORMS] == ["old"] * 3
