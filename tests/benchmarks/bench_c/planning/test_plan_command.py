"""`benchc plan`: what it prints of a run that is not begun, half made, and finished."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.images import encode_png
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from scripts.benchc import main
from tests.benchmarks.bench_c.trial import CONFIG
from tests.config.trial import MODELS, SOURCES

IDS = [f"drawn-text/{number}" for number in range(5)]
KEPT = IDS[:2]
OPTIONS = [2, 3, 4, 4, 4]
VARIANTS = 1 + 3 * 3  # of tests/benchmarks/bench_c/trial.py


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


def write_pool() -> None:
    image = {"bytes": encode_png(np.zeros((4, 5, 3), np.uint8)), "path": None}
    pool = {"id": IDS, "options": [["o"] * count for count in OPTIONS], "images": [[image]] * 5}
    pool["image_keys"] = [[f"{id_}#0"] for id_ in IDS]
    absent = {name: pl.lit(None, dtype) for name, dtype in POOL.columns.items() if name not in pool}
    frame = pl.DataFrame(pool, schema_overrides={"images": POOL.columns["images"]}).with_columns(**absent)
    write_table(frame.select(*POOL.columns), Path("results/trial/pool/items.parquet"), POOL)


def write_selection() -> None:
    facts = {"kappa": pl.lit(1.0), "rank": pl.int_range(pl.len()), "score": pl.lit(1.0)}
    selected = pl.DataFrame({"id": IDS}).with_columns(**facts, kept=pl.col("id").is_in(KEPT))
    write_table(selected, Path("results/trial/selection/selected.parquet"), SELECTED)


def write_predictions(subset: str, model: str, predictions: int, seconds: float, new: int) -> None:
    empty = pl.DataFrame(schema=dict(PREDICTIONS.columns))
    path = Path(f"results/trial/predictions/{subset}/{model}/all.parquet")
    write_table(empty, path, PREDICTIONS, {"model": model, "predictions": predictions})
    logs = Path("logs/trial")
    for name in (f"infer/{subset}/{model}/all.log", f"benchmarks/infer/{subset}/{model}/all.jsonl"):
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
    counts = f"{predictions:,} predictions, {predictions - new:,} from the store, {new:,} new"
    (logs / f"infer/{subset}/{model}/all.log").write_text(f"fog: 5 of 5 items\n{model}: {counts}\n")
    (logs / f"benchmarks/infer/{subset}/{model}/all.jsonl").write_text(json.dumps({"s": seconds}) + "\n")


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, list[str]], str]:
    """Return the cells of every row of the command's tables by their first, and all that was printed."""
    main(["plan", "config.yaml", *arguments])
    text = capsys.readouterr().out
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in cells}, text


def test_a_run_that_is_not_begun(folder, capsys):
    configured(folder, pool={"per_task": 4, "total": 40})
    rows, text = planned(capsys)
    assert rows["selectors"] == ["1", "1", "≤ 40", "10", "≤ 400", "≤ 400", "400", "400", "0"]
    # 40 x 849 / 4000 = 8.49; small has read the pool as the selector, so large alone computes.
    assert rows["targets"] == ["2", "2", "≤ 40", "10", "≤ 800", "≤ 400", "160", "80", "0"]
    assert rows["random subset"] == ["2", "2", "≤ 7", "10", "≤ 140", "≤ 70", "140", "70", "0"]
    assert rows["total"] == ["", "5", "", "", "≤ 1,200", "≤ 800", "700", "550", "0"]  # all 40 are selected
    assert "- ≤: at most; " in text and "≈" not in text and "≲" not in text
    assert "looks up in the store as a target: small." in text
    assert "Diagnostics add 140 predictions, 88 % of the targets', if 21.2 % of the pool are kept." in text
    assert "849 of 4,000), here 8 of 40 items; the selection decides" in text
    assert "give --seconds-per-prediction X" in text
    assert not (folder / "results").exists()


def test_a_pool_without_a_bound_is_not_invented(folder, capsys):
    rows, text = planned(capsys)
    assert rows["selectors"] == ["1", "1", "unknown", "10", "unknown", "unknown", "0"]
    assert rows["total"][4] == "unknown" and "21.2 %" not in text
    assert "known once the sources are read" in text


def test_sources_that_are_read_say_how_large_the_pool_will_be(folder, capsys):
    for source, tasks in (("drawn-text", ["x"] * 6), ("drawn-charts", ["y"] * 3)):
        ids = [f"{source}/{number}" for number in range(len(tasks))]
        columns = {name: [None] * len(ids) for name in ITEMS.columns} | {"id": ids, "category": tasks}
        frame = pl.DataFrame(columns, schema=dict(ITEMS.columns))
        write_table(frame, Path(f"results/trial/sources/{source}.parquet"), ITEMS)
    rows, text = planned(capsys)
    assert rows["selectors"][2:5] == ["7", "10", "70"]  # at most 4 of a task type
    assert "Pool: 7 items, from the 2 sources that are read." in text


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
    write_table(orders, Path("results/trial/orders/large.parquet"), ORDERS, {"predictions": 4})
    rows, text = planned(capsys, "--output", "plan.csv")
    assert rows["selectors"][:7] == ["1", "1", "5", "10", "50", "50", "50"]
    assert rows["targets"][:7] == ["2", "2", "2", "10", "40", "20", "40"]
    assert rows["random subset"][:7] == ["2", "2", "3", "10", "60", "30", "30"]
    asked = rows["option order"]
    assert asked[:4] == ["2", "2", "1", "4 × (K − 1)"] and asked[4] == asked[5] and asked[6] == "4"
    again = int(asked[4])
    assert again in (2 * 4 * 1, 2 * 4 * 2)  # one of the two kept items, of 2 and 3 options
    assert rows["total"][4:7] == [f"{150 + again}", f"{100 + again}", "124"]
    # small has no other orders yet; its random subset is of the pool, which it has read.
    assert f"Left to compute: {again - 4}, " in text
    # 50 predictions in 10 s and 20 in 5: 0.214 s of small; 20 in 5 s: 0.25 s of large.
    assert rows["small"][:2] == ["0.214", "70"] and rows["large"][:2] == ["0.25", "20"]
    assert (
        "fewer than 500 predictions, so that the start" in text
        and ": small (70 predictions), large (20 predictions)." in text
    )
    assert (
        f"Diagnostics add {60 + again} predictions, {100 * (60 + again) / 40:.0f} % of the targets'." in text
    )
    assert "≤" not in text and "≈" not in text and "assum" not in text
    size = sum(path.stat().st_size for path in Path("results/trial/corrupted").iterdir())
    assert rows["corrupted, written: pool"][-1] == f"{size / 1e9:.2g} GB"
    table = pl.read_csv("plan.csv")
    assert table.filter(stage="targets", model="large").to_dicts() == [
        {
            "stage": "targets",
            "model": "large",
            "jobs": 1,
            "items": 2,
            "items_known": "exact",
            "predictions": 20,
            "predictions_known": "exact",
            "predictions_at_papers_share": None,
            "new_predictions": 20,
            "done": 20,
            "seconds_per_prediction": 0.25,
            "predictions_measured": 20,
            "hours": 20 * 0.25 / 3600,
        }
    ]
    assert table["predictions"].sum() == 150 + again and table["done"].sum() == 124
    assert table.filter(stage="targets", model="small")["new_predictions", "hours"].row(0) == (0, 0.0)


def test_a_given_price_goes_before_measured_ones(folder, capsys):
    configured(folder, diagnostics={"random_subset": None, "option_order": None})
    write_pool()
    write_predictions("pool", "small", 50, 10.0, 50)
    rows, text = planned(capsys, "--seconds-per-prediction", "720")
    # Nothing is selected yet: at most all 5 items, 1 at the paper's share.
    assert rows["selectors"] == ["1", "1", "5", "10", "50", "50", "50", "50", "50", "10", "10"]
    assert rows["targets"] == ["2", "2", "≤ 5", "10", "≤ 100", "≤ 50", "20", "10", "0", "≤ 10", "2"]
    assert rows["total"] == ["", "3", "", "", "≤ 150", "≤ 100", "70", "60", "50", "≤ 20", "12"]
    assert (
        "Left to compute: ≤ 50, ≤ 10 hours." in text and "at the 720 s a prediction that were given" in text
    )
    assert "No diagnostics are asked for." in text and "small" not in rows


def test_a_model_that_is_not_measured_has_no_hours(folder, capsys):
    write_pool()
    write_selection()
    write_predictions("pool", "small", 50, 10.0, 50)
    rows, text = planned(capsys)
    assert rows["selectors"][-1] != "–" and rows["targets"][-1] == rows["total"][-1] == "–"
    assert rows["large"] == ["–", "–", "–", "–"] and "Not measured yet: large." in text


def test_a_small_job_does_not_price_a_model_that_a_large_one_measured(folder, capsys):
    write_pool()
    write_selection()
    write_predictions("selected", "large", 600, 60.0, 600)
    write_predictions("unselected", "large", 15, 9.0, 15)  # as after a rerun with a small random subset
    rows, text = planned(capsys)
    assert rows["large"][:2] == ["0.1", "600"] and "fewer than 500" not in text


def test_done_is_at_most_what_is_read(folder, capsys):
    write_pool()
    write_selection()
    write_predictions("pool", "small", 500, 10.0, 500)  # of a larger pool
    write_predictions("selected", "large", 15, 1.0, 15)
    rows, text = planned(capsys, "--output", "plan.csv")
    assert rows["selectors"][6] == "50" and rows["targets"][6] == "15"
    assert rows["total"][6] == "65" and "what an older configuration read beyond them is not counted" in text
    assert pl.read_csv("plan.csv")["done"].sum() == 65
    assert "Left to compute: 35, " in text  # 5 of targets, 30 of the subset


def test_without_a_selector_among_the_targets_nothing_is_looked_up(folder, capsys):
    configured(
        folder,
        targets=["large"],
        figures={
            "figure3": {"target": "large"},
            "figure4": {"target": "large", "corruption": "snow", "severity": 5},
            "figure5": {"target": "large"},
        },
    )
    write_pool()
    write_selection()
    rows, text = planned(capsys)
    assert rows["targets"] == ["1", "1", "2", "10", "20", "0"] and "new predictions" not in text


def test_an_assumed_bound_has_a_sign_of_its_own(folder, capsys):
    configured(
        folder, pool={"per_task": 4, "total": 40}, diagnostics={"random_subset": None, "option_order": 3}
    )
    rows, text = planned(capsys)
    assert rows["option order"][4:6] == ["≲ 72", "≲ 72"]  # 2 targets x 3 items x (4 - 1) orders x 4 variants
    assert rows["total"][4] == "≲ 1,272"
    assert "- ≲: at most, if what is assumed" in text and "K = 4 is assumed" in text and "- ≤: " in text
    assert "≈" not in text


def test_estimated_disk_has_its_sign_explained(folder, capsys):
    write_pool()
    rows, text = planned(capsys)
    assert rows["corrupted, written: pool"][-1].startswith("≈ ")
    assert "- ≈: estimated, see below." in text and "- disk: estimated" in text


def test_one_thing_is_singular_and_short_times_are_minutes(folder, capsys):
    configured(
        folder, pool={"per_task": 4, "total": 1}, diagnostics={"random_subset": None, "option_order": None}
    )
    rows, text = planned(capsys, "--seconds-per-prediction", "11.4")
    assert "at most 1 item (pool.total)" in text and "of 1 item; the selection" in text
    assert rows["selectors"][9] == "≤ 1.9 min"  # 10 predictions of 11.4 s
    assert "Left to compute: ≤ 20, ≤ 3.8 min." in text
    _, text = planned(capsys, "--seconds-per-prediction", "180")
    assert "Left to compute: ≤ 20, ≤ 1 hour." in text


@pytest.mark.parametrize(
    "line", ["{", "", "[]", "{}", '{"s": null}', '{"s": "-"}', '{"s": NaN}', '{"s": -1}', "\ufffd"]
)
def test_a_damaged_benchmark_is_not_measured(folder, capsys, line):
    write_pool()
    write_predictions("pool", "small", 50, 10.0, 50)
    path = Path("logs/trial/benchmarks/infer/pool/small/all.jsonl")
    path.write_bytes(b"\xff" if line == "\ufffd" else line.encode())
    rows, text = planned(capsys)
    assert "no inference job of this run is measured" in text and "small" not in rows


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("envs", "envs is a folder; name a file, such as envs/plan.csv"),
        ("new/", "new/ is a folder; name a file, such as new/plan.csv"),
        ("new/plan.csv", "there is no folder new; make it, or name another file"),
        ("config.yaml/plan.csv", "there is no folder config.yaml; make it"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_sentence(folder, output, why, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["plan", "config.yaml", "--output", output])
    assert str(stop.value.code).startswith(f"error: --output: {why}") and "\n" not in str(stop.value.code)
    assert not (folder / "new").exists() and capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            CONFIG.replace("per_task: 4", "per_task: 0"),
            "error: config.yaml: pool.per_task is 0, but should",
        ),
        ("- a\n", 'error: config.yaml: the whole is ["a"], but must be a mapping'),
        ("", "error: config.yaml: the whole is null, but must be a mapping"),
        ("a: 1\na: 2\n", "error: config.yaml: a is given twice, in lines 1 and 2"),
        ("a: [\n", "error: config.yaml: line 2 is not YAML"),
    ],
)
def test_a_wrong_configuration_is_refused_in_sentences(folder, text, sentence):
    (folder / "config.yaml").write_text(text)
    with pytest.raises(SystemExit) as stop:
        main(["plan", "config.yaml"])
    assert str(stop.value.code).startswith(sentence) and "\n" not in str(stop.value.code)


def test_every_fault_is_a_line(folder):
    configured(folder, seed=-1, selectors=["smal"], catalogues={"sources": "", "models": "models.yaml"})
    with pytest.raises(SystemExit) as stop:
        main(["plan", "config.yaml"])
    lines = str(stop.value.code).splitlines()
    assert len(lines) == 3 and all(line.startswith("error: config.yaml: ") for line in lines)
    assert 'error: config.yaml: catalogues.sources is "", but should name a YAML file' in "\n".join(lines)


@pytest.mark.parametrize(("name", "why"), [("no.yaml", "there is no such file"), (".", "cannot be read")])
def test_a_file_that_cannot_be_read_is_one_sentence(folder, name, why):
    with pytest.raises(SystemExit, match=rf"error: {name}: {why}.*; give a"):
        main(["plan", name])


@pytest.mark.parametrize("price", ["0", "-1", "nan", "inf", "x", "abc", "1,5", ""])
def test_a_price_is_a_positive_number(folder, price, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["plan", "config.yaml", f"--seconds-per-prediction={price}"])
    assert stop.value.code == 2
    assert f"--seconds-per-prediction: {price!r} is not a positive number" in capsys.readouterr().err


def test_planning_loads_no_torch():
    code = "import sys; import scripts.plan; print('torch' in sys.modules, 'snakemake' in sys.modules)"
    root = Path(__file__).resolve().parents[4]
    result = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert result.stdout == "False False\n"
