"""A run on a real SLURM makes the files of a run on one machine, with jobs that have no network."""

import csv
from pathlib import Path

import pytest

from tests.workflow.checkout import Checkout
from tests.workflow.slurm.conftest import ClusterRun, copied, rules_of

MOST_JOBS = 12


@pytest.fixture(scope="module")
def run(slurm, finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> ClusterRun:
    """The small run of the fixture `finished`, on a cluster with GPUs, where two models ask for one."""
    slurm(accounting=True, demand_account=True, refuse_gpus=True)
    checkout = copied(finished, tmp_path_factory.mktemp("slurm-run") / "benchc")
    site = {"account": "project", "qos": "normal", "gpus": {"request": "gres", "type": "h100"}}
    run = ClusterRun(checkout, **site)
    ended = run.run("--slurm-efficiency-report")
    assert ended.status == 0, ended.text[-6000:]
    return run


def test_all_files_are_those_of_a_run_on_one_machine(run: ClusterRun, finished: Checkout) -> None:
    found, expected = (each.hashes("results/small") for each in (run.checkout, finished))
    assert found == expected


def test_short_jobs_are_one_job_of_slurm(run: ClusterRun) -> None:
    jobs = run.jobs()
    assert len(jobs) <= MOST_JOBS, jobs
    assert {job["State"] for job in jobs.values()} == {"COMPLETED"}
    assert any(len(rules_of(job)) > 1 for job in jobs.values())


def test_jobs_ask_for_what_their_work_needs(run: ClusterRun) -> None:
    for job in run.jobs().values():
        assert job["Partition"] == "cpu" and "gres/gpu" not in job["ReqTRES"]
        assert int(job["ReqCPUS"]) <= 2 and int(job["ReqMem"].removesuffix("M")) <= 4000
        assert int(job["TimelimitRaw"]) <= 240


def test_snakemake_reports_what_jobs_used_of_what_they_asked_for(run: ClusterRun) -> None:
    (report,) = run.checkout.folder.glob("efficiency_report_*.csv")
    with report.open() as file:
        rows = [*csv.DictReader(file)]
    assert {row["MainJobID"] for row in rows} == {*run.jobs()}
    assert all(0 < float(row["MaxRSS_MB"]) <= float(row["RequestedMem_MB"]) for row in rows)


def test_nothing_is_left_of_jobs_that_ended(run: ClusterRun) -> None:
    hidden = run.checkout.folder / ".snakemake"
    left = [path for name in ("submitted", "owners", "slurm_logs") for path in (hidden / name).rglob("*")]
    assert [path for path in left if path.is_file()] == []
    assert not Path(hidden, "locks").exists() and run.run().text.count("Nothing to be done") == 1
