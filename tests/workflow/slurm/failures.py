"""What dies while jobs run on a real SLURM: nothing is lost, and each cause is named (make test-cluster)."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.workflow.checkout import Checkout
from tests.workflow.slurm.cluster import Cluster, said
from tests.workflow.slurm.held import Held, held_run, is_held, killed, states, wait_for

LOCK_GONE = "was killed; its lock is removed"


@pytest.fixture(scope="module")
def cluster(slurm: Callable[..., Cluster]) -> Cluster:
    """One without accounting, which forgets jobs after half a minute."""
    return slurm(accounting=False, min_job_age=30)


@pytest.fixture
def held(cluster: Cluster, finished: Checkout, tmp_path: Path) -> Iterator[Held]:
    """The small run, whose jobs of `infer` wait."""
    yield from held_run(finished, tmp_path)


def test_a_killed_run_takes_over_the_jobs_that_still_run(held: Held, finished: Checkout) -> None:
    killed(held, lambda: is_held(held))
    before = set(states())
    process = held.start()
    time.sleep(20)
    # Nothing is submitted again.
    assert set(states()) == before
    held.release()
    text, _ = process.communicate(timeout=900)
    assert process.returncode == 0, text[-6000:]
    assert LOCK_GONE in text and re.search(r"takes over SLURM job \d+ of an earlier run", text)
    assert held.checkout.hashes("results/small") == finished.hashes("results/small")


def test_what_ended_after_a_run_was_killed_is_kept(held: Held) -> None:
    killed(held, lambda: is_held(held))
    ids = held.held()
    held.release()
    wait_for(lambda: not held.held(), "the jobs to end")
    made = sorted((held.checkout.folder / "results/small/predictions/pool").rglob("*.parquet"))
    assert made
    times = [path.stat().st_mtime_ns for path in made]
    # Each of the commands that a user may try first works.
    held.checkout.module("scripts.benchc", "what-reruns", held.checkout.config)
    assert held.checkout.snakemake("--unlock", check=False).returncode == 0
    ended = held.run("kappa")
    assert ended.status == 0, ended.text[-6000:]
    assert [path.stat().st_mtime_ns for path in made] == times
    assert not any(f"SLURM job {id_}" in ended.text for id_ in ids)


def test_a_job_of_other_settings_is_cancelled_and_submitted_again(held: Held) -> None:
    killed(held, lambda: is_held(held))
    (id_,) = held.held()
    held.checkout.configure(seed=1)
    process = held.start("--until", "kappa")
    wait_for(lambda: states().get(id_, "gone") in ("CANCELLED", "gone"), "the job to be cancelled")
    held.release()
    text, _ = process.communicate(timeout=900)
    assert process.returncode == 0, text[-6000:]


def test_a_cancelled_job_and_a_lost_node_are_named_and_submitted_again(held: Held, cluster: Cluster) -> None:
    process = held.start("--until", "kappa")
    wait_for(lambda: is_held(held), "jobs to run")
    (first,) = held.held()
    subprocess.run(["scancel", first], check=True)
    # What has failed is submitted alone.
    wait_for(lambda: len({*held.held()} - {first}) == 2, "two jobs")
    second = sorted({*held.held()} - {first})[0]
    node = said("squeue", "-h", "-j", second, "-o", "%N")
    subprocess.run(["scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test"], check=True)
    wait_for(lambda: len({*states()} - {first, second}) >= 2, "a third job")
    held.release()
    text, _ = process.communicate(timeout=900)
    subprocess.run(["scontrol", "update", f"NodeName={node}", "State=RESUME"], check=False)
    assert process.returncode == 0, text[-6000:]
    assert f"SLURM job {first}: cancelled" in text and f"SLURM job {second}: its node failed" in text
    record = json.loads((held.checkout.folder / "results/small/run.json").read_text())
    assert record["calls"][-1]["tried_again"] >= 2


def test_a_controller_that_restarts_loses_nothing(held: Held, cluster: Cluster) -> None:
    process = held.start("--until", "kappa")
    wait_for(lambda: is_held(held), "jobs to run")
    cluster.stop("slurmctld")
    time.sleep(6)
    cluster.start_controller()
    held.release()
    text, _ = process.communicate(timeout=900)
    assert process.returncode == 0, text[-6000:]
    # No job failed, or was submitted a second time.
    assert "Trying to restart job" not in text and "cancelled" not in text


def test_ctrl_c_cancels_the_jobs(held: Held) -> None:
    process = held.start()
    wait_for(lambda: is_held(held), "jobs to run")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    wait_for(lambda: not held.held(), "the jobs to be cancelled", 30)
    held.release()
    ended = held.run("--until", "kappa")
    assert ended.status == 0, ended.text[-6000:]


def test_names_of_refusals_are_in_the_last_lines(held: Held) -> None:
    site = held.checkout.folder / "slurm/site.yaml"
    content = yaml.safe_load(site.read_text())
    content["partitions"] = {"nowhere": {}}
    site.write_text(yaml.safe_dump(content))
    ended = held.run("--retries", "0", seconds=120)
    assert ended.status == 1
    assert "invalid partition specified: nowhere" in ended.text


def test_memory_grows_only_after_a_lack_of_it(held: Held) -> None:
    catalogue = held.checkout.folder / "config/small-models.yaml"
    models = yaml.safe_load(catalogue.read_text())
    for model in ("letters", "texts"):
        models[model]["mem_mb"] = 400
    catalogue.write_text(yaml.safe_dump(models))
    held.release()
    ended = held.run("--until", "kappa", "--retries", "3")
    assert ended.status == 0, ended.text[-6000:]
    assert re.search("out of memory.*; it had 400 MB, a retry asks for 800", ended.text)
