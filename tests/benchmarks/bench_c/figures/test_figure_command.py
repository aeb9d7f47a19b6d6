"""Figures are stages of files and settings; errors are one line."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from scripts import command
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, selection
from tests.benchmarks.bench_c.outputs import write_filled, write_models
from tests.stages import call_stage


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    ids = ["mmstar/0", "mmstar/1", "world/0", "world/1"]
    for number, source in enumerate(("mmstar", "world")):
        write_filled({"id": ids[2 * number :][:2]}, tmp_path / f"sources/{source}.parquet", ITEMS)
    columns = {"source": ["mmstar"] * 2 + ["world"] * 2, "task": ["map", "web", "map", "map"]}
    write_filled({"id": ids, **columns}, tmp_path / "pool.parquet", POOL)
    selected = selection([0.0, 0.2, 0.3, 0.4], [False, False, True, True], ids)
    write_table(selected, tmp_path / "selected.parquet", SELECTED)
    for seed, model in enumerate(("one", "two")):
        write_table(drawn_scores(6, ["snow", "fog"], seed), tmp_path / f"scores/{model}.parquet", SCORES)
    write_models(tmp_path / "models.json", {"one": "One", "two": "Two"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


SELECTION = {"selected": "selected.parquet"}
POOL_AND_SELECTION = {"pool": "pool.parquet", **SELECTION}
SCORES_OF_TWO = {"scores": ["scores/one.parquet", "scores/two.parquet"], "models": "models.json"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "figure1a": SELECTION,
    "figure4": {"scores": "scores/one.parquet", "label": "One", "corruption": "snow", "severity": 5},
    "figure6": {**SCORES_OF_TWO, "groups": {"snow": "weather", "fog": "weather"}},
    "figure7": POOL_AND_SELECTION
    | {"sources": ["sources/mmstar.parquet", "sources/world.parquet"], "labels": {"world": "World"}},
    "figure8": POOL_AND_SELECTION,
}


def module_of(name: str) -> str:
    return f"benchc.benchmarks.bench_c.figures.{name}"


def run(name: str, arguments: Mapping[str, Any]) -> None:
    """Run the stage in this process and in the present folder."""
    command.run(lambda: call_stage(f"bench_c.figures.{name}", **arguments, prefix="out/f"))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_figure_is_written_in_both_forms(name: str, folder: Path):
    run(name, ARGUMENTS[name])
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["f.pdf", "f.png"]
    assert (folder / "out/f.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "out/f.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("figure4", {"severity": "five"}, "error: Invalid value for --severity: "),
        ("figure4", {"severity": None}, "error: Parameter --severity is missing"),
        ("figure4", {"level": 5}, "error: Unknown option: --level"),
        ("figure4", {"scores": None}, "error: Parameter --scores is missing"),
        ("figure6", {"scores": ["scores/three.parquet"]}, "error: models.json: it lists one, two"),
        ("figure6", {"groups": {"snow": "weather"}}, "error: figure 6: "),
        ("figure7", {"labels": []}, "error: Invalid value for --labels: "),
        ("figure1a", {"selected": "none.parquet"}, "error: none.parquet: "),
    ],
)
def test_errors_are_one_line_and_nothing_is_written(
    name: str, change: dict[str, Any], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as stop:
        run(name, {**ARGUMENTS[name], **change})
    # Python prints the message of status 1.
    text = capsys.readouterr().err.rstrip("\n") if stop.value.code == 2 else str(stop.value)
    assert text.startswith(message) and "\n" not in text
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("bench_c.figures.figure99", "error: there is no module .*bench_c.figures.figure99; "),
        ("bench_c.figures.regimes", "error: .*regimes has no function regimes"),
        ("my-figure", "error: there is no stage 'my-figure'"),
    ],
)
def test_what_is_no_figure_is_refused(module: str, message: str):
    with pytest.raises(SystemExit, match=f"^{message}"):
        command.run(lambda: call_stage(module, prefix="out/f"))


def test_figures_import_neither_metrics_nor_each_other():
    modules = ("figure1a", *(f"figure{number}" for number in range(3, 11)))
    for module in modules:
        source = Path(import_module(module_of(module)).__file__).read_text()
        others = [other for other in modules if other != module]
        assert not any(f"{module_of(other)} " in source for other in others)
        assert "bench_c.metrics" not in source and "pyplot" not in source
