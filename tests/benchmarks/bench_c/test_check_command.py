"""`benchc check`: what it prints for a run that is ready, and for one that would fail."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import yaml

from benchc.checking import cost, encoders, image_time, models
from benchc.checking.trial import Trial
from benchc.config.load import read_config
from benchc.errors import InputError
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS
from benchc.workflow.demo import TrainedModels
from scripts.benchc import main
from tests.benchmarks.bench_c.trial import CONFIG
from tests.corruptions.own_files import DARKEN, written
from tests.footers import footer_of
from tests.planning.test_rates import write_job
from tests.sources.tsv_files import encoded, image_bytes, open_row, row, write_tsv

ROOT = Path(__file__).resolve().parents[3]
SOURCES = "good: {label: Good, path: good.tsv, task_column: category}\n"
MODELS = """
small: {label: Small, family: llava, scoring: letter, path: checkpoints/small}
large: {label: Large, family: llava, scoring: text, path: checkpoints/large, mem_mb: 4000}
"""
NOT_TRIED = "skipped all time unknown for models that were not timed where their jobs run: small, large"
# Its process takes 5 s, of which it starts for 3.
TRIAL = Trial("cpu", 1.0, 0.5, 9, 0.9, True, 2, 3, peak_mb=900.0, asking=2.0)
PIXELS = 40 * 32
# An image is read in 1 s, and corrupted and written in 1 s; the first of a corruption takes 0.25 s more.
IMAGES = (0.25 / PIXELS, 0.75 / PIXELS, 1 / PIXELS, 0.25)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of 6 items in two task types, whose two models take 0.5 s per prediction, without its image."""
    for name, text in (("config", CONFIG), ("sources", SOURCES), ("models", MODELS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    weights = [f"checkpoints/{model}/pytorch_model.bin" for model in ("small", "large")]
    for name in ("envs/transformers.yaml", *weights):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    images = [encoded(image_bytes((number, 0, 0), (40, 32))) for number in range(6)]
    rows = [row(n, image=image, category=f"task {n % 2}") for n, image in enumerate(images)]
    write_tsv(tmp_path / "good.tsv", rows)
    monkeypatch.chdir(tmp_path)
    configure(tmp_path)
    now = 0.0

    def tried(*_: object) -> Trial:
        nonlocal now
        now += 5.0
        return TRIAL

    monkeypatch.setattr(models, "in_child", tried)
    monkeypatch.setattr(models, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(image_time, "in_child", lambda *_: (IMAGES, 10.0))
    monkeypatch.setattr(encoders, "in_child", lambda *_: None)
    return tmp_path


def configure(folder: Path, **blocks: Any) -> None:
    own = {"sources": ["good"], "pool": {"per_task": 2, "total": None}}
    (folder / "config.yaml").write_text(yaml.safe_dump(yaml.safe_load(CONFIG) | own | blocks))


@pytest.fixture
def checked(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[list[str], int]]:
    """Return the lines that the command prints, and its exit status."""

    def check(*arguments: str) -> tuple[list[str], int]:
        status: Any = 0
        try:
            main(["check", "config.yaml", *arguments])
        except SystemExit as stop:
            status = stop.code
        return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()], status

    return check


def test_a_run_that_is_ready(folder, checked):
    lines, status = checked()
    assert status == 0 and lines[-1] == "0 errors, 0 warnings"
    assert lines[0] == "config.yaml: run trial"
    stages = [after for before, after in pairwise(lines) if before == ""]
    assert stages[:-1] == ["sources", "pool", "corruptions", "models", "encoders", "time", "disk", "figures"]
    assert "ok 2 of 3 task 0 (good)" in lines
    # The selector answers 4 items in 10 variants; the target 1 of them, and 3 others as the random subset,
    # which the selector looks up: of 40 predictions it reads the images alone.
    each = "predictions, ≈ 1.5 s each, images included, and 3 s to start each of"
    for line in (
        *(f"ok small ≈ 1.8 min for 40 {each} 3 jobs", f"ok large ≈ 1.1 min for ≈ 40 {each} 2 jobs"),
        "ok images < 1 min to write those that are not there, in 4 jobs",
        "ok all ≈ 3.6 min in 5 jobs that ask models and 4 that write images, one after another, if 21.2 % of "
        "the pool is selected, as in the paper; not counted: all other jobs",
        "made image encoder made by the run",
    ):
        assert line in lines
    assert any(line.startswith("ok images ≈ 0.057 MB of images are to be written, ") for line in lines)
    given = {"checkpoints", "config.yaml", "envs", "good.tsv", "models.yaml", "sources.yaml"}
    assert {path.name for path in folder.iterdir()} == given
    (folder / "results/.cache/small").mkdir(parents=True)
    cached = (
        "as in the paper; less where results/.cache has predictions of other runs; not counted: all other"
    )
    assert any(cached in line for line in checked()[0])


def test_a_target_that_is_a_selector_is_named(folder, checked):
    text = "is a selector and a target: it has influenced which items it is measured on"
    lines, status = checked()
    assert status == 0 and f"ok small {text}" in lines and f"ok large {text}" not in lines
    assert lines.count("models") == 1
    configure(folder, targets=["large"])
    assert not any(text in line for line in checked()[0])


def test_a_run_may_name_corruptions_of_own_files(folder, checked):
    # The first is the one on which models are tried.
    own = {"own_files": [Path(written(folder, DARKEN)).name], "types": ["darken", "snow"]}
    configure(folder, corruptions=yaml.safe_load(CONFIG)["corruptions"] | own)
    lines, status = checked()
    assert status == 0 and lines[-1] == "0 errors, 0 warnings"
    assert any(line.startswith("ok all 2 corruptions of imagenet-c and mine.py") for line in lines)


def test_it_goes_on_after_errors_and_counts_them_and_warnings_alone_are_no_failure(
    folder, checked, monkeypatch
):
    def wrong(*_: object) -> None:
        raise InputError("a: is wrong; mend it")

    (folder / "good.tsv").write_text("index\n1\n")
    monkeypatch.setattr(models, "in_child", wrong)
    monkeypatch.setattr(encoders, "in_child", wrong)
    lines, status = checked()
    assert status == 1 and lines[-1].startswith("error: config.yaml: 4 errors, 0 warnings; ")
    subjects = [line.split()[1] for line in lines if line.startswith("error ")]
    assert subjects == ["good", "small", "large", "text"]
    assert NOT_TRIED in lines
    monkeypatch.setattr(models, "in_child", lambda *_: TRIAL)
    monkeypatch.setattr(encoders, "in_child", lambda *_: None)
    write_tsv(folder / "good.tsv", [*(row(number) for number in range(4)), row(9, question="")])
    lines, status = checked()
    assert status == 0 and lines[-1] == "0 errors, 1 warning"


def test_without_models_nothing_is_loaded(folder, checked, monkeypatch):
    monkeypatch.setattr(models, "in_child", None)
    monkeypatch.setattr(encoders, "in_child", None)
    lines, status = checked("--no-models")
    assert status == 0
    assert {"ok all ≈ 80 predictions", NOT_TRIED} <= {*lines}
    assert "skipped small is here and was not loaded: checkpoints/small" in lines
    assert "skipped text encoder all-MiniLM-L6-v2: was not loaded" in lines


def test_a_full_disk_is_an_error(folder, checked, monkeypatch):
    usage = shutil.disk_usage(folder)._replace(free=10_000)
    monkeypatch.setattr(cost.shutil, "disk_usage", lambda path: usage)
    lines, status = checked("--no-models")
    error, _ = (line for line in lines if line.startswith("error"))
    assert status == 1 and error.endswith("or set corruptions.corrupted: on_the_fly")
    # Images that are written already need no more space.
    (folder / "results/trial/corrupted").mkdir(parents=True)
    (folder / "results/trial/corrupted/snow.parquet").write_bytes(bytes(50_000))
    assert checked("--no-models")[1] == 0


@pytest.mark.parametrize(("item", "errors"), [("good/1", 0), ("good/77", 1)])
def test_the_item_of_figure_5_must_be_in_the_pool(folder, checked, item, errors):
    figures = yaml.safe_load(CONFIG)["figures"] | {"figure5": {"target": "large", "item": item}}
    configure(folder, figures=figures, pool={"per_task": None, "total": None})
    lines, _ = checked("--no-models")
    start = "error figure5 figures.figure5.item is good/77, which"
    assert len([line for line in lines if line.startswith(start)]) == errors


def test_open_ended_questions_are_an_error(folder, checked):
    write_tsv(folder / "open.tsv", [open_row(number) for number in range(3)])
    more = "open: {label: Open, path: open.tsv, task_column: category}\n"
    (folder / "sources.yaml").write_text(SOURCES + more)
    configure(folder, sources=["good", "open"])
    lines, status = checked("--no-models")
    assert status == 1
    (error,) = (line for line in lines if line.startswith("error all 2 items without options, first open/"))
    assert "option logits need options; remove their sources" in error


def test_rates_of_finished_jobs_replace_those_of_the_trial_and_what_is_done_takes_no_time(folder, checked):
    write_job(folder / "logs/trial", "pool/small/all", 20.0, 10, 10)
    lines, _ = checked()
    assert "ok small 1.3 min for 40 predictions, 2 s each, as in the finished jobs of this run" in lines
    predictions = pl.DataFrame(schema=dict(PREDICTIONS.columns))
    for subset, count in {"pool": 40, "selected": 10, "unselected": 30}.items():
        path = folder / f"results/trial/predictions/{subset}/small/all.parquet"
        write_table(predictions, path, PREDICTIONS, footer_of({"predictions": count}))
    images = pl.DataFrame(schema=dict(CORRUPTED.columns))
    for name in ("clean", "snow", "fog"):
        write_table(images, folder / f"results/trial/corrupted/{name}.parquet", CORRUPTED)
    lines, _ = checked()
    assert "ok small no time: its predictions are there" in lines
    # A quarter of the images: 10 s, and 0.25 s for the first.
    assert "ok images < 1 min to write those that are not there, in 1 job" in lines
    # All of this is of another run once its sources are others.
    record = yaml.safe_load(Path("config.yaml").read_text()) | {"sources": ["other"]}
    Path("results/trial/config.yaml").write_text(yaml.safe_dump(record))
    lines, status = checked()
    assert lines[:4] == [
        "config.yaml: run trial",
        "",
        "results",
        'warning trial results/trial was made by another configuration (sources: + "good", - "other"): '
        "running this one replaces its results, none of which count as done here; to keep them, give this "
        "run another name",
    ]
    assert (status, lines[-1]) == (0, "0 errors, 1 warning")
    assert any(line.startswith("ok small 1.3 min for 40 predictions") for line in lines)
    assert any(line.endswith("write those that are not there, in 4 jobs") for line in lines)
    assert any(line.startswith("ok images ≈ 0.057 MB of images are to be written") for line in lines)


def test_a_model_that_is_tried_has_no_rate_of_another_run(folder, checked):
    write_job(folder / "logs/drawings", "pool/small/all", 0.1, 100, 100)
    record = folder / "results/drawings/config-models.yaml"
    record.parent.mkdir(parents=True)
    shutil.copy(folder / "models.yaml", record)
    entries = yaml.safe_load(MODELS)
    trained = {"hidden": 24, "vision_layers": 1, "text_layers": 1, "patch": 8, "steps": 1, "batch": 1}
    train = trained | {"learning_rate": 0.1, "seed": 1}
    for entry in entries.values():
        del entry["path"]
        entry["train"] = train
    for path in (folder / "models.yaml", record):
        path.write_text(yaml.safe_dump(entries))
    # Its images are those of this run: 1 s each.
    line = "≈ 1.3 min for 40 predictions, ≈ 1 s each, as in the run drawings and 1 s more for the images of"
    assert any(line in found for found in checked()[0])
    config = read_config(folder / "config.yaml")
    made = folder / TrainedModels(config.models, config.settings.demo).folder("small")
    made.mkdir(parents=True)
    (made / "pytorch_model.bin").touch()
    lines, _ = checked()
    assert any("ok small" in line and "≈ 1.5 s each, images included" in line for line in lines)


def test_what_cannot_be_measured_is_not_counted_and_said(folder, checked, monkeypatch):
    answers = {"random_subset": None, "option_order": None, "generated_answers": ["large"]}
    configure(folder, diagnostics=answers)

    def ended(*_: object) -> None:
        raise InputError("its process was ended; run the check again")

    monkeypatch.setattr(image_time, "in_child", ended)
    lines, status = checked()
    assert status == 0
    alone = "ok small .*≈ 0.5 s each, without its images, and 3 s to start"
    assert any(re.match(alone, line) for line in lines)
    assert "skipped images time to write them unknown, in 4 jobs" in lines
    (line,) = (line for line in lines if "not counted" in line)
    assert line.startswith("ok all < 1 min ") and "that write images" not in line
    assert line.endswith(
        "not counted: the images that these jobs read or corrupt, the images that are written, what an "
        "answer takes longer than a prediction, all other jobs"
    )
    # Where no source is here, models are tried on generated items, and the published ones are counted.
    remote = SOURCES.replace("path: good.tsv", "url: 'https://localhost:1/x.tsv', published: {items: 4}")
    (folder / "sources.yaml").write_text(remote)
    lines, _ = checked()
    generated = "ok small .*≈ 0.5 s each on generated items, without its images"
    assert any(re.match(generated, line) for line in lines)


def test_encoders_that_are_absent_are_fetched(folder, checked, monkeypatch):
    encoder = {"name": "ViT-B-32-quickgelu", "pretrained": "openai"}
    selection = yaml.safe_load(CONFIG)["selection"] | {"image_encoder": encoder}
    configure(folder, selection=selection)
    monkeypatch.setattr(encoders, "in_child", lambda _, name, *names: "absent" if "image" in name else None)
    monkeypatch.setattr(encoders, "is_offline_mode", lambda: False)
    lines, status = checked()
    assert status == 0 and "fetch image encoder ViT-B-32-quickgelu openai, from the Hub" in lines
    monkeypatch.setattr(encoders, "is_offline_mode", lambda: True)
    lines, status = checked()
    assert status == 1 and "error image encoder absent; HF_HUB_OFFLINE forbids downloads: unset it" in lines


def test_an_invalid_configuration_is_one_line_per_error(folder, checked):
    corruptions = yaml.safe_load(CONFIG)["corruptions"] | {"types": ["snw"], "severities": [1, 9]}
    configure(folder, corruptions=corruptions, targets=["larg"])
    lines, status = checked()
    assert lines == []
    found = str(status).splitlines()
    assert len(found) > 3 and all(line.startswith("error: config.yaml: ") for line in found)


def test_help_and_a_check_without_models_load_no_torch(folder):
    code = "import sys; from scripts.benchc import main; main(['check', 'config.yaml', '--no-models'])"
    code += "; print({'torch', 'snakemake'} & {*sys.modules})"
    given = {"cwd": folder, "env": {"PYTHONPATH": str(ROOT)}, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", code], check=False, **given)
    assert done.stdout.splitlines()[-1] == "set()", done.stderr


def test_encoders_and_models_are_loaded_in_processes_of_their_own(folder, checked, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    lines, status = checked()
    assert status == 1 and lines[-1].startswith("error: config.yaml: 2 errors, 0 warnings; ")
    pattern = re.compile("error (small|large) checkpoints/.*: cannot be loaded")
    assert len([line for line in lines if pattern.match(line)]) == 2
    assert "ok text encoder all-MiniLM-L6-v2: can be loaded" in lines
