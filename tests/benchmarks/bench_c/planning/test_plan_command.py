"""`benchc plan`: what it prints for a run that is not started, half done, and finished."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.config.load import read_config
from benchc.config.resolved import resolved
from benchc.images import encode_png
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from scripts.benchc import main
from tests.benchmarks.bench_c.outputs import rows_of, write_filled
from tests.benchmarks.bench_c.trial import CONFIG
from tests.config.trial import MODELS, SOURCES
from tests.footers import footer_of
from tests.planning.test_rates import write_job

IDS = [f"drawn-text/{number}" for number in range(5)]
KEPT = IDS[:2]
OPTIONS = [2, 3, 4, 4, 4]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("config", CONFIG), ("sources", SOURCES), ("models", MODELS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs/transformers.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configured(folder: Path, **blocks: object) -> None:
    content = yaml.safe_load(CONFIG) | blocks
    (folder / "config.yaml").write_text(yaml.safe_dump(content))


def remote(folder: Path) -> None:
    """Make a source one that is not downloaded."""
    text = SOURCES.replace("generated: {groups: 3}", "url: https://example.org/a.tsv", 1)
    (folder / "sources.yaml").write_text(text)


def write_pool() -> None:
    image = {"bytes": encode_png(np.zeros((4, 5, 3), np.uint8)), "path": None}
    columns = {"id": IDS, "options": [["o"] * count for count in OPTIONS], "images": [[image]] * 5}
    keys = {"image_keys": [[f"{id_}#0"] for id_ in IDS]}
    write_filled(columns | keys, "results/trial/pool/items.parquet", POOL)


def write_selection() -> None:
    facts = {"kappa": pl.lit(1.0), "rank": pl.int_range(pl.len()), "score": pl.lit(1.0)}
    selected = pl.DataFrame({"id": IDS}).with_columns(**facts, selected=pl.col("id").is_in(KEPT))
    write_table(selected, Path("results/trial/selection/selected.parquet"), SELECTED)


def write_predictions(subset: str, model: str, predictions: int, seconds: float, computed: int) -> None:
    empty = pl.DataFrame(schema=dict(PREDICTIONS.columns))
    path = Path(f"results/trial/predictions/{subset}/{model}/all.parquet")
    write_table(empty, path, PREDICTIONS, footer_of({"model": model, "predictions": predictions}))
    write_job(Path("logs/trial"), f"{subset}/{model}/all", seconds, predictions, computed)


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, list[str]], str]:
    """Return the cells of every row of the command's tables by their first, and all that was printed."""
    main(["plan", "config.yaml", *arguments])
    text = capsys.readouterr().out
    return {first: cells for first, *cells in rows_of(text)}, text


def test_a_run_that_is_not_started(folder, capsys):
    configured(folder, pool={"per_task": 20, "total": 40})
    rows, text = planned(capsys)
    assert rows["selectors"] == ["1", "1", "≤ 40", "≤ 400", "≤ 400", "0", "≤ 400"]
    # small answers the pool as a selector, so only large computes here.
    assert rows["targets"] == ["2", "2", "≤ 40", "≤ 800", "≤ 400", "0", "≤ 400"]
    assert rows["random subset"] == ["2", "2", "≤ 7", "≤ 140", "≤ 70", "0", "≤ 70"]
    assert rows["total"] == ["", "5", "", "≤ 1,340", "≤ 870", "0", "≤ 870"]
    # 40 x 849 / 4000 = 8.49: 400 by the selector, 80 + 70 by large.
    for part in (
        "If 21.2 % of the pool is selected, as in the paper: ≈ 550 distinct predictions, ≈ 550 left.",
        *("find their predictions in the cache: small.", "1 clean + 3 corruptions × 3 severities"),
        *("or give --seconds-per-prediction", "Images on disk, clean included: unknown."),
    ):
        assert part in text
    assert not (folder / "results").exists()


def record(folder: Path) -> None:
    for path, text in resolved(read_config(Path("config.yaml")), "results/trial", folder).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


def test_results_of_other_sources_are_named_and_do_not_count(folder, capsys):
    configured(folder, sources=["drawn-charts"], pool={"per_task": 4})
    rows, text = planned(capsys)
    configured(folder)
    record(folder)
    write_pool()
    write_selection()
    write_predictions("pool", "small", 50, 10.0, 50)
    assert planned(capsys)[0]["selectors"][:7] == ["1", "1", "5", "50", "50", "50", "0"]
    configured(folder, sources=["drawn-charts"], pool={"per_task": 4})
    now, again = planned(capsys, "--output", "plan.csv")
    assert now["selectors"][:7] == rows["selectors"][:7] == ["1", "1", "≤ 12", "≤ 120", "≤ 120", "0", "≤ 120"]
    assert now["total"][5] == "0" and pl.read_csv("plan.csv")["done"].sum() == 0
    warning = (
        'warning: results/trial was made by another configuration (sources: - "drawn-text"): running this '
        "one replaces its results, none of which count as done here; to keep them, give this run another "
        "name."
    )
    assert warning in again.splitlines() and "known from" in again and "settings have changed" not in again
    assert "warning" not in text


def test_settings_that_changed_since_the_last_run_are_named(folder, capsys):
    configured(folder)
    record(folder)
    assert "settings have changed" not in planned(capsys)[1]
    corruptions = yaml.safe_load(CONFIG)["corruptions"]
    configured(folder, seed=9, corruptions=corruptions | {"severities": [1, 5]}, pool={"per_task": 2})
    _, text = planned(capsys)
    note = "- settings have changed since the last run (seed: 1 -> 9; pool.per_task: 4 -> 2; pool.total: "
    assert note in text and " and 1 more), and done and left count files that will be made again" in text
    assert "`benchc what-reruns config.yaml` counts their predictions." in text


def test_the_sources_bound_the_pool_before_it_is_built_if_they_can(folder, capsys):
    rows, text = planned(capsys)
    # Both generated sources have 3 task types of more than 4 items.
    assert rows["selectors"] == ["1", "1", "≤ 24", "≤ 240", "≤ 240", "0", "≤ 240"]
    assert "`benchc check config.yaml` counts" in text
    remote(folder)
    rows, text = planned(capsys)
    assert rows["selectors"] == ["1", "1", "unknown", "unknown", "unknown", "0", "unknown"]
    assert rows["total"][3] == "unknown" and "21.2 %" not in text
    assert "`benchc run config.yaml pool --cores 2` builds it" in text


def test_the_paper_is_planned_before_its_sources_are_here(capsys):
    main(["plan", "config/config.yaml"])
    text = capsys.readouterr().out
    # Section 4.1 of the paper: 2.3K, 1.1K, 1.9K, 3.1K, 1.5K and 1.2K items.
    items = [int(found.replace(",", "")) for found in re.findall(r"\| [≤≈] ([\d,]+) \| +published", text)]
    assert [round(count / 1000, 1) for count in items] == [2.3, 1.1, 1.9, 3.1, 1.5, 1.2]
    unpublished = "lego-puzzles, mme-realworld-lite, mmbench-dev-en-v11"
    assert f"To download for the sources: 0.95 GB and what is not published of {unpublished}." in text


def test_a_finished_run_is_counted(folder, capsys):
    configured(folder, diagnostics={"random_subset": "all", "option_order": 1})
    write_pool()
    write_selection()
    write_predictions("pool", "small", 50, 10.0, 50)
    for model in ("small", "large"):
        write_predictions("selected", model, 20, 5.0, 20)
    write_predictions("unselected", "large", 30, 1.0, 3)  # looked up: no measure of the model
    for name in ("clean", "snow", "fog", "pixelate"):
        images = pl.DataFrame(schema=dict(CORRUPTED.columns))
        write_table(images, Path(f"results/trial/corrupted/{name}.parquet"), CORRUPTED)
    orders = pl.DataFrame(schema=dict(ORDERS.columns))
    write_table(orders, Path("results/trial/orders/large.parquet"), ORDERS, footer_of({"predictions": 4}))
    rows, text = planned(capsys, "--output", "plan.csv")
    assert rows["selectors"][:7] == ["1", "1", "5", "50", "50", "50", "0"]
    assert rows["targets"][:7] == ["2", "2", "2", "40", "20", "40", "0"]
    assert rows["random subset"][:7] == ["2", "2", "3", "60", "30", "30", "0"]
    orders = rows["option order"]
    again = int(orders[3])
    assert again in (2 * 4 * 1, 2 * 4 * 2)  # one of the two selected items, of 2 and 3 options
    # small's other orders are missing; its random subset is of the pool, which it answered.
    assert orders[:7] == ["2", "2", "1", f"{again}", f"{again}", "4", f"{again - 4}"]
    assert rows["total"][3:7] == [f"{150 + again}", f"{100 + again}", "124", f"{again - 4}"]
    # 50 predictions in 10 s and 20 in 5: 0.214 s of small; 20 in 5 s: 0.25 s of large.
    assert rows["small"][:2] == ["0.214", "70"] and rows["large"][:2] == ["0.25", "20"]
    assert "≤" not in text and "≈" not in text and "unknown" not in text
    size = sum(path.stat().st_size for path in Path("results/trial/corrupted").iterdir())
    assert f"Images on disk, clean included: 50, {size / 1e6:.2g} MB." in text
    table = pl.read_csv("plan.csv")
    (large,) = table.filter(stage="targets", model="large").to_dicts()
    known = dict.fromkeys(("items_known", "predictions_known", "seconds_known"), "exact")
    done = dict.fromkeys(("predictions", "distinct_predictions", "done", "predictions_measured"), 20)
    hours = {"seconds_per_prediction": 0.25, "hours": 20 * 0.25 / 3600, "hours_left": 0.0}
    jobs = {"stage": "targets", "model": "large", "jobs": 1, "items": 2, "left": 0}
    assert large == jobs | known | done | hours
    assert table["predictions"].sum() == 150 + again and table["done"].sum() == 124
    assert table.filter(stage="targets", model="small")["distinct_predictions", "hours"].row(0) == (0, 0.0)


def test_a_given_rate_replaces_measured_ones(folder, capsys):
    configured(folder, diagnostics={"random_subset": None, "option_order": None})
    write_pool()
    write_predictions("pool", "small", 50, 10.0, 50)
    rows, text = planned(capsys, "--seconds-per-prediction", "720")
    # Nothing is selected yet: at most all 5 items, 1 at the paper's share.
    assert rows["selectors"] == ["1", "1", "5", "50", "50", "50", "0", "10 h", "0 min"]
    assert rows["targets"] == ["2", "2", "≤ 5", "≤ 100", "≤ 50", "0", "≤ 50", "≤ 10 h", "≤ 10 h"]
    assert rows["total"] == ["", "3", "", "≤ 150", "≤ 100", "50", "≤ 50", "≤ 20 h", "≤ 10 h"]
    assert "paper: ≈ 60 distinct predictions, ≈ 10 left, ≈ 2 h." in text
    assert rows["small"] == ["720", "–", "0", "10 h", "0 min"]


def test_the_time_of_a_model_that_is_not_measured_is_unknown(folder, capsys):
    write_pool()
    write_selection()
    write_predictions("pool", "small", 50, 10.0, 50)
    rows, _ = planned(capsys)
    assert rows["selectors"][-2:] == ["< 1 min", "0 min"]
    assert rows["targets"][-1] == rows["total"][-1] == "unknown"
    assert rows["large"] == ["unknown", "–", "50", "unknown", "unknown"]
    write_predictions("pool", "small", 500, 10.0, 500)  # of a larger pool
    write_predictions("selected", "large", 15, 1.0, 15)
    rows, _ = planned(capsys)
    assert rows["selectors"][5] == "50" and rows["targets"][5] == "15"
    assert rows["total"][5:7] == ["65", "35"]  # 5 of targets, 30 of the random subset are left


def test_where_no_selector_is_a_target_all_predictions_are_new(folder, capsys):
    figure4 = {"target": "large", "corruption": "snow", "severity": 5}
    figures = {"figure3": {"target": "large"}, "figure4": figure4, "figure5": {"target": "large"}}
    configured(folder, targets=["large"], figures=figures)
    write_pool()
    write_selection()
    rows, text = planned(capsys)
    assert rows["targets"] == ["1", "1", "2", "20", "20", "0", "20"] and "in the cache:" not in text


@pytest.mark.parametrize("selected", [False, True])
def test_on_the_fly_only_the_images_of_selected_items_are_written(folder, capsys, selected):
    configured(folder, corruptions=yaml.safe_load(CONFIG)["corruptions"] | {"corrupted": "on_the_fly"})
    write_pool()
    if selected:
        write_selection()
    _, text = planned(capsys)
    # 2 images, or 5 x 849 / 4000 = 1.06, in 10 variants.
    assert f"Images on disk, clean included: {'20' if selected else '≈ 10'}, ≈ " in text
    assert "- disk: estimated" in text


def test_a_family_that_cannot_be_loaded_is_noticed(folder, capsys):
    assert "cannot be loaded" not in planned(capsys)[1]
    start = "large: {label: Large, family: "
    (folder / "models.yaml").write_text(MODELS.replace(f"{start}llava", f"{start}lava"))
    text = planned(capsys)[1]
    assert "- 1 model of families that are not supported" in text and ": large (lava)." in text


def test_every_validation_error_is_a_line(folder):
    configured(folder, seed=-1, selectors=["smal"], catalogues={"sources": "", "models": "models.yaml"})
    with pytest.raises(SystemExit) as stop:
        main(["plan", "config.yaml"])
    lines = str(stop.value.code).splitlines()
    assert len(lines) == 3 and all(line.startswith("error: config.yaml: ") for line in lines)
    assert any('catalogues.sources is "", but' in line for line in lines)


@pytest.mark.parametrize("rate", ["0", "-1", "nan", "inf", "x", "1,5", ""])
def test_a_rate_is_a_positive_number(folder, rate, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["plan", "config.yaml", f"--seconds-per-prediction={rate}"])
    # A text that is no number is a usage error.
    error = capsys.readouterr().err if stop.value.code == 2 else str(stop.value.code)
    assert error.startswith("error: ") and "--seconds-per-prediction" in error and "\n" not in error.strip()


def test_planning_loads_no_torch():
    code = "import sys; import scripts.commands.plan; print({'torch', 'snakemake'} & {*sys.modules})"
    root = Path(__file__).resolve().parents[4]
    result = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert result.stdout == "set()\n"
