"""The small runs of the other benchmarks on a real SLURM make the files of a run on one machine."""

import json
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.benchmarks.mllm_ic.conftest import finished_scenarios  # noqa: F401  (fixture)
from tests.benchmarks.naturalbench.conftest import finished_groups  # noqa: F401  (fixture)
from tests.benchmarks.r_bench.conftest import TARGETS, finished_pairs  # noqa: F401  (fixture)
from tests.benchmarks.vqa_robustness.conftest import finished_open  # noqa: F401  (fixture)
from tests.workflow.checkout import Checkout
from tests.workflow.slurm.cluster import Cluster
from tests.workflow.slurm.conftest import ClusterRun

MOST_JOBS = 12


@pytest.fixture(scope="module")
def cluster(slurm: Callable[..., Cluster]) -> Cluster:
    return slurm(accounting=True)


def seconds_of(record: dict[str, Any]) -> float:
    """Return the time of the last call of Snakemake."""
    start, end = (datetime.fromisoformat(record["calls"][-1][name]) for name in ("start", "end"))
    return (end - start).total_seconds()


@pytest.mark.parametrize(
    ("fixture", "targets"),
    [("finished_open", ()), ("finished_groups", ()), ("finished_pairs", TARGETS), ("finished_scenarios", ())],
)
def test_all_files_are_those_of_a_run_on_one_machine(
    fixture: str, targets: tuple[str, ...], cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    finished: Checkout = request.getfixturevalue(fixture)
    name = yaml.safe_load((finished.folder / finished.config).read_text())["name"]
    results = f"results/{name}"
    local = json.loads((finished.folder / results / "run.json").read_text())
    # With the models that the run trained, and the sources that it generated.
    checkout = finished.copy(tmp_path / "benchc", "logs", ".snakemake", ".cache")
    shutil.rmtree(checkout.folder / results)
    run = ClusterRun(checkout, seconds_between_polls=5)
    before = {*run.jobs()}
    ended = run.run(*targets)
    assert ended.status == 0, ended.text[-6000:]
    assert checkout.hashes(results) == finished.hashes(results)
    jobs = {id_: job for id_, job in run.jobs().items() if id_ not in before}
    assert {job["State"] for job in jobs.values()} == {"COMPLETED"}
    assert len(jobs) <= MOST_JOBS
    record = json.loads((checkout.folder / results / "run.json").read_text())
    # Each job ran with the memory that SLURM says it asked for, and used less.
    for rule, stage in record["stages"].items():
        if stage["asked_mb"] is not None:
            assert stage["peak_mb"] < stage["asked_mb"], rule
    assert {stage["asked_mb"] is not None for stage in record["stages"].values()} == {True, False}
    print(f"\n{name}: {len(local['outputs'])} outputs, {len(jobs)} jobs of SLURM, {seconds_of(record):.0f} s")
    for rule, stage in record["stages"].items():
        print(f"  {rule}: {stage['peak_mb']} of {stage['asked_mb']} MB in {stage['jobs']} jobs")
