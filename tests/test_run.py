"""`benchc run` passes on what Snakemake prints, and nothing that jobs print."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.bench_c.trial import CONFIG
from tests.config.trial import MODELS, SOURCES
from tests.workflow.checkout import ROOT

SNAKEFILE = 'rule only:\n    output: "only"\n    shell: "echo from the job; touch {output}"\n'


@pytest.mark.parametrize(
    ("options", "stdout", "stderr"),
    [
        ("--list-rules", "only\n", ""),
        ("--summary", "output_file\tdate\trule\t", "Building DAG of jobs...\n"),
        ("--unlock", "", "Unlocked working directory.\n"),
        ("--dry-run", "", "1 job: only\n"),
        ("--cores 1", "", "1 job: only\n"),
    ],
)
def test_output_of_snakemake_is_shown(tmp_path: Path, options: str, stdout: str, stderr: str) -> None:
    for name, text in (("config", CONFIG), ("sources", SOURCES), ("models", MODELS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs/transformers.yaml").touch()
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "scripts.benchc", "run", "config.yaml", *options.split()]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, text=True, capture_output=True, check=True)
    assert done.stdout.startswith(stdout) and bool(done.stdout) == bool(stdout)
    assert done.stderr.startswith(stderr) and bool(done.stderr) == bool(stderr)
    assert "from the job" not in done.stderr
