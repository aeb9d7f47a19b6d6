"""`benchc run` passes on what Snakemake prints, and nothing that jobs print."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.cli import parse_args

from benchc.benchmarks.bench_c.settings import Settings
from benchc.workflow.run_record import TYPED
from scripts.commands import run as command
from tests.benchmarks.bench_c.trial import CONFIG
from tests.config.trial import MODELS, SOURCES
from tests.models.stand_ins.nvidia_smi import use_machine
from tests.workflow.checkout import ROOT

SNAKEFILE = 'rule only:\n    output: "only"\n    shell: "echo from the job; touch {output}"\n'


def write_trial(folder: Path, models: str) -> None:
    for name, text in (("config", CONFIG), ("sources", SOURCES), ("models", models)):
        (folder / f"{name}.yaml").write_text(text)
    (folder / "envs").mkdir(exist_ok=True)
    (folder / "envs/transformers.yaml").touch()


@pytest.mark.parametrize(
    ("options", "stdout", "stderr"),
    [
        ("--list-rules", "only\n", ""),
        ("--summary", "output_file\tdate\trule\t", "Building DAG of jobs...\n"),
        ("--unlock", "", "Unlocked working directory.\n"),
        ("--dry-run", "", "1 job: only\n"),
        ("--cores 1", "", "1 job: only\n"),
        ("--cores 1 --profile .", "", "1 job: only\n"),
    ],
)
def test_output_of_snakemake_is_shown(tmp_path: Path, options: str, stdout: str, stderr: str) -> None:
    write_trial(tmp_path, MODELS)
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "profile.yaml").write_text("latency-wait: 5\n")
    command = [sys.executable, "-m", "scripts.benchc", "run", "config.yaml", *options.split()]
    command += ["--snakefile", "Snakefile"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, text=True, capture_output=True, check=True)
    assert done.stdout.startswith(stdout) and bool(done.stdout) == bool(stdout)
    assert done.stderr.startswith(stderr) and bool(done.stderr) == bool(stderr)
    assert "from the job" not in done.stderr


@pytest.fixture
def parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return what Snakemake reads of a run's options on a machine with two GPUs."""
    use_machine(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)

    def options(*given: str, gpus: int = 1) -> Any:
        models = yaml.safe_load(MODELS)
        models["large"]["gpus"] = gpus
        write_trial(tmp_path, yaml.safe_dump(models))
        called: list[list[str]] = []
        monkeypatch.setattr(os, "execv", lambda _, words: called.append(words))
        monkeypatch.setattr(sys, "argv", ["/bin/benchc", "run", "my config.yaml", "--cores", "2"])
        command.run(Path("config.yaml"), *given, full=True)
        assert os.environ.pop(TYPED) == "benchc run 'my config.yaml' --cores 2"
        return parse_args(called[0][3:])[1]

    return options


@pytest.mark.parametrize(
    ("given", "resources"),
    [
        ([], {"gpu": 2}),
        (["--resources", "mem_mb=9"], {"gpu": 2, "mem_mb": 9}),
        (["--res", "mem_mb=9"], {"gpu": 2, "mem_mb": 9}),
        (["--resources", "mem_mb=9", "gpu=1"], {"gpu": 1, "mem_mb": 9}),
        (["--resources=gpu=5"], {"gpu": 5}),
        (["--resources=mem_mb=9"], {"mem_mb": 9}),
        (["--executor", "slurm"], {}),
        (["--profile", "none"], {}),
        (["--workflow-profile", "none"], {}),
    ],
)
def test_a_run_uses_no_more_gpus_at_once_than_there_are(parsed, capsys, given, resources):
    found = parsed("table1", "--cores", "9", *given)
    assert {name: found.resources[name].value for name in found.resources} == resources
    assert found.targets == ["table1"] and found.cores == 9
    line = "2 GPUs at most at once (--resources gpu=2)\n"
    assert capsys.readouterr().err == (line if resources.get("gpu") == 2 else "")


def test_encoders_on_gpus_are_limited_as_models(parsed, monkeypatch):
    monkeypatch.setattr(Settings, "encoder_gpus", 1)
    assert parsed(gpus=0).resources["gpu"].value == 2


def test_a_run_has_no_limit_on_gpus_that_it_does_not_need_or_that_a_profile_may_have(
    parsed, tmp_path, monkeypatch
):
    assert not parsed(gpus=0).resources
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert parsed().resources["gpu"].value == 1
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert not parsed().resources
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setenv("SNAKEMAKE_PROFILE", "none")
    assert not parsed().resources
    monkeypatch.delenv("SNAKEMAKE_PROFILE")
    (tmp_path / "profiles/default").mkdir(parents=True)
    (tmp_path / "profiles/default/config.yaml").write_text("resources: [gpu=7]\n")
    assert parsed().resources["gpu"].value == 7
