"""What a dry run shows, and what stops a run before its first job."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from scripts.command import call
from scripts.stage import stage_function, stages
from tests.workflow.checkout import ROOT, Checkout, planned_jobs
from tests.workflow.declared import outputs_of

BY_USERS = {"write_command_reference", "write_config_reference", "write_corruption_reference"}

STAGES = {
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
    "describe_models": 1,
    "configuration": 1,
}


@pytest.fixture(scope="module")
def paper() -> dict[str, int]:
    """The jobs of the paper's run: those of its stages, and one for each declared output."""
    return STAGES | {output.name: 1 for output in outputs_of("config/config.yaml")}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, python) -> Checkout:
    checkout = Checkout(tmp_path_factory.mktemp("plan") / "benchc", "config/config.yaml")
    checkout.python = python
    return checkout


def test_the_papers_run_is_planned_without_network_weights_or_torch(checkout, paper, monkeypatch):
    # As if torch were not installed; the other python has imported it.
    monkeypatch.setattr(checkout, "python", Path(sys.executable))
    torch = checkout.folder / "torch.py"
    torch.write_text("raise ImportError('torch was imported while planning')\n")
    output = checkout.snakemake("-n").stdout
    torch.unlink()
    assert planned_jobs(output) == paper
    assert "6 models are loaded by Python code of their checkpoint, which is not trusted yet" in output
    assert ": moondream2, monkey-chat, mplug-owl3-7b, " in output


def test_a_run_that_could_not_finish_does_not_start(checkout):
    result = checkout.snakemake("--cores", "1", check=False)
    assert result.returncode != 0
    assert "Run `benchc models pin ID`, which writes the commit into the model catalogue" in result.stdout
    assert "or remove the models from selectors and targets: moondream2, monkey-chat, " in result.stdout
    assert not (checkout.folder / "results").exists()


def test_a_config_without_a_name_does_not_take_the_name_of_the_papers_run(checkout, monkeypatch):
    text = (checkout.folder / "config/demo.yaml").read_text()
    (checkout.folder / "config/nameless.yaml").write_text(text.replace("name: demo", "# name: demo"))
    monkeypatch.setattr(checkout, "config", "config/nameless.yaml")
    result = checkout.snakemake("-n", check=False)
    assert result.returncode != 0
    assert "config/nameless.yaml: name is missing" in result.stdout


@pytest.mark.parametrize("file", ["benchc/models/checkpoint.py", "benchc/corruptions/kernels/noise.py"])
def test_code_that_does_not_parse_is_an_error(checkout, file):
    with checkout.restored(file) as path:
        path.write_text(path.read_text() + "\ndef broken(:\n")
        result = checkout.snakemake("-n", check=False)
    assert result.returncode != 0
    assert "SyntaxError" in result.stdout


def test_the_docs_give_the_papers_job_counts():
    page = (ROOT / "docs/bench-c.md").read_text()
    text = page.split("<!-- jobs of config/config.yaml -->")[1].split("\n\n")[0]
    counts = {rule: int(count) for rule, count in re.findall(r"^\| (\w+) \| (\d+) \|", text, re.MULTILINE)}
    assert len(counts) == 8 and counts == {rule: STAGES[rule] for rule in counts}


def test_the_cluster_profile_plans_the_papers_run_and_strict_dag_evaluation_finds_nothing(checkout, paper):
    checks = ("functions", "cyclic-graph", "periodic-wildcards")
    assert checkout.plan("--profile", "slurm", "--strict-dag-evaluation", *checks) == paper


def test_an_invalid_config_stops_before_any_job_with_a_line_per_error(checkout):
    with checkout.restored(checkout.config) as path:
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


def test_every_stage_has_help_and_is_run_by_a_rule_or_by_users(capsys):
    for name in stages():
        call(stage_function(name), ["--help"], f"stage {name}")
        assert capsys.readouterr().out.startswith(f"usage: stage {name} "), name
    files = [*(ROOT / "rules").glob("*.smk")]
    called = {name for file in files for name in re.findall(r'stage\(\s*"([\w.]+)"', file.read_text())}
    assert stages().keys() - called == BY_USERS and called <= stages().keys()
