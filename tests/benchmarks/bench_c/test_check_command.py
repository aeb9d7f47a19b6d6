"""`benchc check`: what it prints for a run that is ready, and for one that would fail."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchc.checking import cost, encoders, models
from benchc.checking.trial import Trial
from benchc.errors import InputError
from scripts.benchc import main
from tests.benchmarks.bench_c.trial import CONFIG
from tests.corruptions.own_files import written
from tests.sources.tsv_files import encoded, image_bytes, open_row, row, write_tsv

ROOT = Path(__file__).resolve().parents[3]
SOURCES = "good: {label: Good, path: good.tsv, task_column: category}\n"
MODELS = """
small: {label: Small, family: llava, scoring: letter, path: checkpoints/small}
large: {label: Large, family: llava, scoring: text, path: checkpoints/large, mem_mb: 4000}
"""
TRIAL = Trial("cpu", 1.0, 0.5, 9, 0.9, True, 2, 3, peak_mb=900.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of 6 items in two task types, whose two models take 0.5 s per prediction."""
    for name, text in (("config", CONFIG), ("sources", SOURCES), ("models", MODELS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    for name in ("envs", "checkpoints/small", "checkpoints/large"):
        (tmp_path / name).mkdir(parents=True)
    for name in (
        "envs/transformers.yaml",
        "checkpoints/small/pytorch_model.bin",
        "checkpoints/large/pytorch_model.bin",
    ):
        (tmp_path / name).touch()
    rows = [
        row(number, image=encoded(image_bytes((number, 0, 0), (40, 32))), category=f"task {number % 2}")
        for number in range(6)
    ]
    write_tsv(tmp_path / "good.tsv", rows)
    monkeypatch.chdir(tmp_path)
    configure(tmp_path)
    monkeypatch.setattr(models, "in_child", lambda *_: TRIAL)
    monkeypatch.setattr(encoders, "in_child", lambda *_: None)
    return tmp_path


def configure(folder: Path, **blocks: Any) -> None:
    own = {
        "sources": ["good"],
        "pool": {"per_task": 2, "total": None},
        "demo": yaml.safe_load(CONFIG)["demo"],
    }
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
    # The selector answers 4 items in 10 variants; the target 1 of them, and 3 others as the random subset.
    assert "ok small ≈ 0.33 min for 40 predictions, ≈ 0.5 s each, and loading in 3 jobs" in lines
    assert "ok large ≈ 0.33 min for ≈ 40 predictions, ≈ 0.5 s each, and loading in 2 jobs" in lines
    assert (
        "ok all ≈ 0.67 min, one job after another, if 21.2 % of the pool is selected, as in the paper"
        in lines
    )
    assert "made image encoder made by the run" in lines
    assert any(line.startswith("ok images ≈ 5.7e-05 GB of images are to be written, ") for line in lines)
    assert sorted(path.name for path in folder.iterdir()) == [
        "checkpoints",
        "config.yaml",
        "envs",
        "good.tsv",
        "models.yaml",
        "sources.yaml",
    ]


def test_a_run_may_name_corruptions_of_own_files(folder, checked):
    code = """
@corruption({"strength": [0.1, 0.2, 0.3, 0.4, 0.5]})
def darken(image, *, strength):
    return np.rint(image * (1 - strength)).astype(np.uint8)
"""
    # The first is the one on which models are tried.
    own = {"own_files": [Path(written(folder, code)).name], "types": ["darken", "snow"]}
    configure(folder, corruptions=yaml.safe_load(CONFIG)["corruptions"] | own)
    lines, status = checked()
    assert status == 0 and lines[-1] == "0 errors, 0 warnings"
    assert any(line.startswith("ok all 2 corruptions of imagenet-c and mine.py") for line in lines)


def test_it_goes_on_after_errors_and_counts_them(folder, checked, monkeypatch):
    def wrong(*_: object) -> None:
        raise InputError("a: is wrong; mend it")

    (folder / "good.tsv").write_text("index\n1\n")
    monkeypatch.setattr(models, "in_child", wrong)
    monkeypatch.setattr(encoders, "in_child", wrong)
    lines, status = checked()
    assert status == 1 and lines[-1] == "4 errors, 0 warnings"
    subjects = [line.split()[1] for line in lines if line.startswith("error ")]
    assert subjects == ["good", "small", "large", "text"]
    assert (
        "skipped all time unknown for models that were not tried here on their device: small, large" in lines
    )


def test_warnings_alone_are_no_failure(folder, checked):
    write_tsv(folder / "good.tsv", [*(row(number) for number in range(4)), row(9, question="")])
    lines, status = checked()
    assert status == 0 and lines[-1] == "0 errors, 1 warning"


def test_without_models_nothing_is_loaded(folder, checked, monkeypatch):
    monkeypatch.setattr(models, "in_child", None)
    monkeypatch.setattr(encoders, "in_child", None)
    lines, status = checked("--no-models")
    assert status == 0
    assert "ok all ≈ 80 predictions" in lines
    assert (
        "skipped all time unknown for models that were not tried here on their device: small, large" in lines
    )
    assert "skipped small is here and was not loaded: checkpoints/small" in lines
    assert "skipped text encoder all-MiniLM-L6-v2: was not loaded" in lines


def test_a_full_disk_is_an_error(folder, checked, monkeypatch):
    usage = shutil.disk_usage(folder)._replace(free=10_000)
    monkeypatch.setattr(cost.shutil, "disk_usage", lambda path: usage)
    lines, status = checked("--no-models")
    (error,) = (line for line in lines if line.startswith("error"))
    assert status == 1 and error.endswith("or set corruptions.corrupted: on_the_fly")
    # Images that are written already need no more space.
    (folder / "results/trial/corrupted").mkdir(parents=True)
    (folder / "results/trial/corrupted/snow.parquet").write_bytes(bytes(50_000))
    assert checked("--no-models")[1] == 0


@pytest.mark.parametrize(("item", "errors"), [("good/1", 0), ("good/77", 1)])
def test_the_item_of_figure_5_must_be_in_the_pool(folder, checked, item, errors):
    figures = yaml.safe_load(CONFIG)["figures"]
    configure(
        folder,
        figures=figures | {"figure5": {"target": "large", "item": item}},
        pool={"per_task": None, "total": None},
    )
    lines, _ = checked("--no-models")
    assert (
        sum(line.startswith("error figure5 figures.figure5.item is good/77, which") for line in lines)
        == errors
    )


def test_open_ended_questions_are_an_error(folder, checked):
    write_tsv(folder / "open.tsv", [open_row(number) for number in range(3)])
    more = "open: {label: Open, path: open.tsv, task_column: category}\n"
    (folder / "sources.yaml").write_text(SOURCES + more)
    configure(folder, sources=["good", "open"])
    lines, status = checked("--no-models")
    assert status == 1
    assert "error all 2 items without options, first open/" in "\n".join(
        lines
    ) and "option logits need options; remove their sources" in "\n".join(lines)


def test_rates_of_finished_jobs_replace_those_of_the_trial(folder, checked):
    from tests.planning.test_rates import write_job

    write_job(folder / "logs/trial", "pool/small/all", 20.0, 10, 10)
    lines, _ = checked()
    assert "ok small 1.3 min for 40 predictions, 2 s each" in lines


def test_encoders_that_are_absent_are_fetched(folder, checked, monkeypatch):
    encoder = {"name": "ViT-B-32-quickgelu", "pretrained": "openai"}
    selection = yaml.safe_load(CONFIG)["selection"] | {"image_encoder": encoder}
    configure(folder, selection=selection)
    monkeypatch.setattr(
        encoders, "in_child", lambda _, function, *names: "absent" if "image" in function else None
    )
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
    code = (
        "import sys; from scripts.benchc import main\n"
        "main(['check', 'config.yaml', '--no-models'])\n"
        "print('torch' in sys.modules, 'snakemake' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.splitlines()[-1] == "False False", done.stderr


def test_encoders_and_models_are_loaded_in_processes_of_their_own(folder, checked, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    lines, status = checked()
    assert status == 1 and lines[-1] == "2 errors, 0 warnings"
    assert (
        sum(bool(re.match("error (small|large) checkpoints/.*: cannot be loaded", line)) for line in lines)
        == 2
    )
    assert "ok text encoder all-MiniLM-L6-v2: can be loaded" in lines
