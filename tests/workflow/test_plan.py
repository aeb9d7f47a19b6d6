"""What a dry run shows, and what stops a run before its first job."""

import re
import runpy
import sys
from pathlib import Path

import pytest
import yaml

from benchc.rendering.declaration import FORMATS
from scripts.benchc import commands
from scripts.models import COMMANDS as MODEL_COMMANDS
from tests.workflow.checkout import ROOT, Checkout

PAPER = {
    "download_source": 6,
    "read_source": 6,
    "pool": 1,
    "corrupt": 20,
    "contact_sheet": 2,
    "embed": 1,
    "fetch_image_encoder": 1,
    "fetch_model": 16,
    "infer": 80,
    "kappa": 1,
    "select": 1,
    "score": 13,
    "models": 1,
    "configuration": 1,
    **dict.fromkeys(("table1", "table2", "table3", "cells", "claims", "intervals", "rank_swaps"), 1),
    **dict.fromkeys(("task_accuracy", "selection_stability"), 1),
    **{f"figure{name}": 1 for name in ("1a", "3", "4", "5", "6", "7", "8", "9", "10")},
}


@pytest.fixture
def checkout(tmp_path, python) -> Checkout:
    checkout = Checkout(tmp_path / "benchc", "config/config.yaml")
    checkout.python = python
    return checkout


def test_the_papers_run_is_planned_without_network_weights_or_torch(checkout, tmp_path):
    # As if torch were not installed; the other python has imported it.
    checkout.python = Path(sys.executable)
    (checkout.folder / "torch.py").write_text("raise ImportError('torch was imported while planning')\n")
    assert checkout.plan() == PAPER
    output = checkout.snakemake("-n").stdout
    assert "6 models are loaded by Python code of their checkpoint, which is not trusted yet" in output
    assert ": moondream2, monkey-chat, mplug-owl3-7b, " in output


def test_a_run_that_could_not_finish_does_not_start(checkout):
    result = checkout.snakemake("--cores", "1", check=False)
    assert result.returncode != 0
    assert "Run `benchc models pin ID`, which writes the commit into the model catalogue" in result.stdout
    assert "or remove the models from selectors and targets: moondream2, monkey-chat, " in result.stdout
    assert not (checkout.folder / "results").exists()


def test_a_config_without_a_name_does_not_take_the_name_of_the_papers_run(checkout):
    text = (checkout.folder / "config/demo.yaml").read_text()
    (checkout.folder / "config/nameless.yaml").write_text(text.replace("name: demo", "# name: demo"))
    checkout.config = "config/nameless.yaml"
    result = checkout.snakemake("-n", check=False)
    assert result.returncode != 0
    assert "config/nameless.yaml: name is missing" in result.stdout


@pytest.mark.parametrize("file", ["benchc/models/checkpoint.py", "benchc/corruptions/kernels/noise.py"])
def test_code_that_does_not_parse_is_an_error(checkout, file):
    path = checkout.folder / file
    path.write_text(path.read_text() + "\ndef broken(:\n")
    result = checkout.snakemake("-n", check=False)
    assert result.returncode != 0
    assert "SyntaxError" in result.stdout


def test_the_readme_gives_the_papers_job_counts():
    text = (ROOT / "README.md").read_text().split("<!-- jobs of config/config.yaml -->")[1].split("\n\n")[0]
    assert f"**{sum(PAPER.values()) + 1}**" in text
    for rule in (
        "download_source",
        "read_source",
        "pool",
        "corrupt",
        "embed",
        "fetch_model",
        "infer",
        "score",
    ):
        assert re.search(rf"\| {rule} \| {PAPER[rule]} \|", text), rule


def test_the_cluster_profile_plans_the_papers_run(checkout):
    assert checkout.plan("--profile", "slurm") == PAPER


def test_strict_dag_evaluation_finds_nothing(checkout):
    checks = ("functions", "cyclic-graph", "periodic-wildcards")
    assert checkout.plan("--strict-dag-evaluation", *checks) == PAPER


def test_an_invalid_config_stops_before_any_job_with_a_line_per_error(checkout):
    path = checkout.folder / checkout.config
    config = yaml.safe_load(path.read_text())
    config["corruptions"]["types"][0] = "brightnes"
    config["selection"]["alpha_kapa"] = 1.0
    config["targets"].append("qwen2.5-vl-8b")
    path.write_text(yaml.safe_dump(config))
    result = checkout.snakemake("-n", check=False)
    assert result.returncode != 0
    errors = [line for line in result.stdout.splitlines() if "config/config.yaml: " in line]
    assert len([error for error in errors if "brightnes" in error and "brightness" in error]) == 1
    assert len([error for error in errors if "alpha_kapa" in error and "alpha_kappa" in error]) == 1
    assert len([error for error in errors if "qwen2.5-vl-8b" in error and "qwen2.5-vl-7b" in error]) == 1
    assert not (checkout.folder / "results").exists()


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_every_script_has_help(monkeypatch, capsys):
    files = [path for path in sorted((ROOT / "scripts").rglob("*.py")) if "__main__" in path.read_text()]
    scripts = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files}
    scripts.remove("scripts.run_quietly")  # Snakemake's own command line, for `benchc run`
    for script in sorted(scripts):
        monkeypatch.setattr(sys, "argv", [script, "--help"])
        try:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            assert not end.code, script
        assert capsys.readouterr().out.startswith("usage: "), script
    # Called by users and developers, not by a rule.
    others = {"benchc", "cache_adopt", "cache_prune", "write_config_reference", "write_corruption_reference"}
    others |= {f"models_{name}" for name in MODEL_COMMANDS}
    by_users = {f"scripts.{name}" for name in others} | {command.module for command in commands().values()}
    text = "".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    called = set(re.findall(r"python -m (scripts[.\w]*\w)", text)) | {f"scripts.{kind}" for kind in FORMATS}
    assert scripts - by_users == called
