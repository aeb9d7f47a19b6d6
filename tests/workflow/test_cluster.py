"""The options with which jobs are submitted to a cluster."""

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.workflow.checkout import Checkout
from tests.workflow.declared import run_of

# Writes its arguments and the script to a file of its own and refuses the job, so that nothing runs.
SBATCH = f"""#!{sys.executable}
import json, os, pathlib, sys
call = [sys.argv[1:], sys.stdin.read()]
pathlib.Path(__file__).with_name(f"{{os.getpid()}}.json").write_text(json.dumps(call))
sys.exit("refused")
"""
# A job in a script of sbatch, by the folder of its logs.
JOB = re.compile(r"log=\S*/slurm_logs/(\S+)/\"\$SLURM_JOB_ID\"")
OTHER_COMMANDS = ("sacct", "sacctmgr", "scancel", "scontrol", "sinfo", "squeue")
# Models on GPUs; the others have none.
GPUS = {"tiny-llava-l": 2, "tiny-idefics3-m": 1}
OPTIONS = {"-p": "partition", "--gpus": "gpus"}
TRAINED = run_of("config/demo-diagnostics.yaml").models.trained.folder("tiny-llava-s")
# Targets of each call. Its rules must not depend on each other, since one job is refused before the next.
CALLS = (
    {
        "results/demo-diagnostics/predictions/pool/tiny-llava-s/all.parquet": "infer",
        "results/demo-diagnostics/predictions/selected/tiny-llava-l/all.parquet": "infer",
        "results/demo-diagnostics/answers/selected/tiny-idefics3-m/all.parquet": "answer",
        "results/demo-diagnostics/orders/tiny-llava-l.parquet": "infer_orders",
        "results/demo-diagnostics/orders/tiny-idefics3-m.parquet": "infer_orders",
        "results/demo-diagnostics/orders/tiny-llava-m.parquet": "infer_orders",
    },
    {
        "results/demo-diagnostics/scores/unselected/tiny-llava-m.parquet": "score_unselected",
        "results/demo-diagnostics/scores/tiny-llava-m.parquet": "score",
        "results/demo-diagnostics/judgements/selected/tiny-llava-m.parquet": "judge_options",
        "results/demo-diagnostics/corrupted/fog.parquet": "corrupt",
        "results/demo-diagnostics/selection/embeddings.parquet": "embed",
        f"{TRAINED}/config.json": "train_demo_model",
    },
)

Options = dict[str, str]


def options(arguments: list[str]) -> Options:
    """Return the OPTIONS of a call of sbatch; `--name value` and `--name=value` are the same."""
    words = [word for argument in arguments for word in argument.split("=", 1)]
    return {name: words[words.index(option) + 1] for option, name in OPTIONS.items() if option in words}


def submitted_by(checkout: Checkout, calls: Iterable[Mapping[str, str]]) -> dict[str, Options]:
    """Return the options of the jobs of ``calls`` that are submitted, by rule/wildcards."""
    commands = checkout.folder.parent / "commands"
    commands.mkdir()
    for name in ("sbatch", *OTHER_COMMANDS):
        (commands / name).write_text(SBATCH if name == "sbatch" else "#!/bin/sh\nexit 1\n")
        (commands / name).chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
        for targets in calls:
            # All that they need exists, as after a finished run.
            summary = checkout.snakemake("--summary", *targets).stdout.splitlines()
            for name in (line.split("\t")[0] for line in summary):
                if name.startswith("results/"):
                    (checkout.folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (checkout.folder / name).touch()
            checkout.snakemake("--touch", "--forceall", "--cores", "1", *targets)
            rules = sorted(set(targets.values()))
            result = checkout.snakemake(
                *["--profile", "slurm", "--retries", "0", "--latency-wait", "0"],
                *["--allowed-rules", *rules, "--forcerun", *rules, "--", *targets],
                check=False,
            )
            assert "Error in rule" in result.stdout, result.stdout
    submissions = [json.loads(path.read_text()) for path in commands.glob("*.json")]
    return {job: options(arguments) for arguments, script in submissions for job in JOB.findall(script)}


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory, python: Path) -> dict[str, Options]:
    """The options of the jobs of CALLS."""
    checkout = Checkout(tmp_path_factory.mktemp("cluster") / "benchc", "config/demo-diagnostics.yaml")
    checkout.python = python
    catalogue = checkout.folder / "config/demo-models.yaml"
    models = yaml.safe_load(catalogue.read_text())
    for model, gpus in GPUS.items():
        models[model] |= {"gpus": gpus, "mem_mb": 16_000}
    catalogue.write_text(yaml.safe_dump(models))
    return submitted_by(checkout, CALLS)


@pytest.mark.parametrize(
    ("config", "change", "targets"),
    [
        (
            "config/demo-diagnostics.yaml",
            {"selection": {"image_encoder": {"name": "trained", "gpus": 1}}},
            {"results/demo-diagnostics/selection/embeddings.parquet": "embed"},
        ),
        (
            "config/demo-naturalbench.yaml",
            {"encoders": {"tiny-clip": {"label": "Tiny", "name": "trained", "gpus": 1}}},
            {
                "results/demo-naturalbench/curate/embeddings/tiny-clip.parquet": "embed_captions",
                "results/demo-naturalbench/retrieval/embeddings/tiny-clip.parquet": "embed_retrieval",
            },
        ),
    ],
)
def test_an_encoder_on_a_gpu_asks_for_one_and_for_a_partition_that_has_it(
    config: str, change: dict[str, Any], targets: dict[str, str], tmp_path: Path, python: Path
) -> None:
    checkout = Checkout(tmp_path / "benchc", config)
    checkout.python = python
    checkout.configure(**change)
    found = submitted_by(checkout, [targets])
    assert {job.split("/")[0] for job in found} == {*targets.values()}
    assert all(job == {"partition": "gpu", "gpus": "1"} for job in found.values())


def test_a_job_of_a_model_on_gpus_asks_for_them_and_for_a_partition_that_has_them(submitted):
    expected = {
        "infer/selected+tiny-llava-l+all": "2",
        "infer_orders/tiny-llava-l": "2",
        "infer_orders/tiny-idefics3-m": "1",
        "answer/selected+tiny-idefics3-m+all": "1",
    }
    with_gpus = {job: found for job, found in submitted.items() if "gpus" in found}
    assert with_gpus == {job: {"partition": "gpu", "gpus": gpus} for job, gpus in expected.items()}


def test_all_other_jobs_stay_off_the_partition_with_gpus(submitted):
    others = {
        "infer/pool+tiny-llava-s+all",
        "infer_orders/tiny-llava-m",
        "corrupt/corrupted+fog",
        f"train_demo_model/{Path(TRAINED).name}",
        "embed",
    }
    assert {job for job, found in submitted.items() if found == {"partition": "cpu"}} == others


def test_scores_and_judgements_are_computed_where_snakemake_runs(submitted):
    assert len(submitted) == 9 and not [name for name in submitted if name.startswith(("score", "judge"))]


def test_snakemakes_own_default_for_disk_is_no_warning(tmp_path, python):
    checkout = Checkout(tmp_path / "benchc", "config/demo-diagnostics.yaml")
    checkout.python = python
    assert "never awaited" not in checkout.snakemake("-n", "--profile", "slurm").stdout
