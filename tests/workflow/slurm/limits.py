"""What a run on a real SLURM has too little of, and what interrupts it (make test-cluster).

Each run ends with the bytes of a run on one machine, and its last lines name what stopped it.
"""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil
import pytest
import yaml

from tests.workflow.checkout import ROOT, Checkout
from tests.workflow.mounts import read_only, small_disk
from tests.workflow.slurm.cluster import Cluster, said
from tests.workflow.slurm.conftest import ClusterRun
from tests.workflow.slurm.held import Held, held_run, is_held, states, wait_for

QUIET = ("scripts.benchc", "run")
ALL, KAPPA = "all", "kappa"
KILLS = 20
UNITS_BEFORE = 5
# A model that stops after some predictions, until a file is there.
STOPS = f"""
import pathlib, time
from benchc.models.cache.unit_cache import UnitCache
put, units = UnitCache.put, []
def put_and_stop(self, *given):
    put(self, *given)
    units.append(given)
    while len(units) == {UNITS_BEFORE} and not pathlib.Path("go").exists():
        time.sleep(0.1)
UnitCache.put = put_and_stop
"""
# More than the job asks for at first and when it is submitted again.
TAKES_MEMORY = """
taken = b"x" * (1300 << 20)
"""


@pytest.fixture(scope="module")
def cluster(slurm: Callable[..., Cluster]) -> Cluster:
    """One whose jobs have eight hours, may be put back into the queue, and are forgotten after a minute."""
    return slurm(accounting=False, min_job_age=60, max_time="8:00:00", preempt=True)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs show the lines that users see."""
    monkeypatch.setattr(ClusterRun, "command", QUIET)


@pytest.fixture
def held(cluster: Cluster, finished: Checkout, tmp_path: Path) -> Iterator[Held]:
    """The small run, whose jobs of `infer` wait."""
    logger = "snakemake_logger_plugin_stages"
    partition = {"max_runtime": "8h", "max_mem_mb": 16_000, "max_threads": 8}
    for run in held_run(finished, tmp_path, partitions={"cpu": partition}):
        (run.checkout.folder / logger).symlink_to(ROOT / logger)
        yield run


def last_lines(text: str) -> str:
    """Return what a run says at its end: how many jobs are done, and what failed."""
    return text[text.rindex(" done in ") :]


def assert_complete(run: ClusterRun, finished: Checkout, status: int, text: str, target: str = KAPPA) -> None:
    """Assert that a run has made the files of the finished one as far as a target, and has left nothing."""
    assert status == 0, text[-6000:]
    found, expected = (each.hashes("results/small") for each in (run.checkout, finished))
    assert found == (expected if target == ALL else {name: expected.get(name) for name in found})
    assert any(f"/{target}." in name for name in found) or target == ALL
    hidden = run.checkout.folder / ".snakemake"
    left = [path for name in ("incomplete", "submitted", "owners") for path in (hidden / name).rglob("*")]
    assert [path for path in left if path.is_file()] == []
    assert not (hidden / "locks").exists()


def units(checkout: Checkout) -> dict[Path, list[str]]:
    """Return the keys of cached predictions of the first model by shard."""
    shards = (checkout.folder / "results/.cache").rglob("*letters*/**/*.units")
    return {shard: [line.split()[0] for line in shard.read_text().splitlines()] for shard in shards}


def test_a_job_that_is_out_of_time_goes_on_from_its_predictions(held: Held, finished: Checkout) -> None:
    held.do_first(STOPS)
    # Alone, since jobs that run one after another share their time.
    target = "results/small/predictions/pool/letters/all.parquet"
    process = held.start(target, "--set-resources", "infer:runtime=1")
    wait_for(lambda: process.poll() or "TIMEOUT" in states().values(), "a time-out", 400)
    (before,) = units(held.checkout).items()
    held.release()
    text, _ = process.communicate(timeout=900)
    assert process.returncode == 0, text[-6000:]
    assert re.search(r"time limit after 1:\d\d; it had 1 minute, a retry asks for 2;", text)
    after = units(held.checkout)
    assert len(before[1]) == UNITS_BEFORE and after[before[0]] == before[1]
    keys = [key for found in after.values() for key in found]
    assert len(keys) == len(set(keys)) > UNITS_BEFORE
    cached, computed = held.checkout.predictions()["pool/letters"]
    assert cached > 0 and cached + computed == sum(finished.predictions()["pool/letters"])
    ended = held.run(KAPPA)
    assert_complete(held, finished, ended.status, ended.text)


def test_memory_that_is_never_enough_is_named_with_what_to_do(held: Held, finished: Checkout) -> None:
    catalogue = held.checkout.folder / "config/small-models.yaml"
    models = yaml.safe_load(catalogue.read_text())
    for model in ("letters", "texts"):
        models[model]["mem_mb"] = 600
    catalogue.write_text(yaml.safe_dump(models))
    held.do_first(TAKES_MEMORY)
    ended = held.run(KAPPA, "--retries", "1")
    assert ended.status == 1
    assert re.search(r"out of memory after \d+:\d\d; it had 600 MB, a retry asks for 1200;", ended.text)
    (line,) = [line for line in last_lines(ended.text).splitlines() if line.startswith("error: job ")]
    match = re.search(
        r"^error: job infer; SLURM job \d+: out of memory( after \d+:\d\d)?; it had 1200 MB; "
        "give it more: (?P<option>.*mem_mb=2400); ",
        line,
    )
    assert match, line
    assert "logs/small/infer/pool/letters" in line
    # The other branches are there.
    assert [*held.checkout.folder.glob("results/small/predictions/pool/texts/*.parquet")]
    ended = held.run(KAPPA, *match["option"].split())
    assert_complete(held, finished, ended.status, ended.text)


def test_a_job_that_is_preempted_begins_again_when_there_is_room(
    held: Held, finished: Checkout, tmp_path: Path
) -> None:
    process = held.start(KAPPA)
    wait_for(lambda: is_held(held), "jobs to run")
    (id_,) = held.held()
    node = said("squeue", "-h", "-j", id_, "-o", "%N")
    urgent = ["sbatch", "--parsable", "-p", "urgent", "-w", node, "--exclusive", "--output=/dev/null"]
    other = said(*urgent, f"--chdir={tmp_path}", "--wrap=sleep 600")
    wait_for(lambda: states().get(other) == "RUNNING", "another job to take the node")
    assert "Restarts=1" in said("scontrol", "show", "job", id_)
    # A second Snakemake does nothing meanwhile.
    known = {*states()}
    second = held.run(KAPPA, seconds=120)
    assert second.status == 1 and {*states()} == known
    said_so = f"error: process {process.pid} on {socket.gethostname()} makes files of this run in this folder"
    assert second.text.splitlines()[-1].startswith(said_so), second.text
    held.release()
    subprocess.run(["scancel", other], check=True)
    text, _ = process.communicate(timeout=900)
    assert_complete(held, finished, process.returncode, text)
    assert "Error in rule" not in text and "submitted again" not in text


def test_jobs_wait_for_drained_partitions_and_nodes_and_say_so(held: Held, finished: Checkout) -> None:
    held.release()
    printed = held.checkout.folder / "printed"
    with printed.open("w") as file:
        set_state("PartitionName=cpu", "DRAIN")
        process = held.start(KAPPA, stdout=file)
        try:
            text = "SLURM does not accept jobs now"
            wait_for(lambda: text in printed.read_text(), "a line about a drained partition")
            set_state("NodeName=node[1-2]", "DRAIN")
            set_state("PartitionName=cpu", "UP")
            waits = re.compile(r"SLURM job \d+ waits: .*DRAINED")
            wait_for(lambda: waits.search(printed.read_text()), "a line about drained nodes")
        finally:
            set_state("PartitionName=cpu", "UP")
            set_state("NodeName=node[1-2]", "RESUME")
        process.wait(timeout=900)
    assert_complete(held, finished, process.returncode, printed.read_text())
    assert not re.search("Error in rule|; submitted again", printed.read_text())


def set_state(what: str, state: str) -> None:
    reason = ["Reason=test"] if state == "DRAIN" and what.startswith("Node") else []
    subprocess.run(["scontrol", "update", what, f"State={state}", *reason], check=True)


def test_results_that_cannot_be_written_are_named(held: Held, finished: Checkout) -> None:
    held.release()
    results = held.checkout.folder / "results"
    before = held.checkout.hashes("results/small")
    with read_only(results):
        ended = held.run(KAPPA, "--retries", "1", seconds=300)
    print(ended.text)
    assert ended.status == 1
    assert "Read-only file system" in last_lines(ended.text)
    assert held.checkout.hashes("results/small") == before

    with small_disk(results, "64m") as disk:
        disk.fill()
        ended = held.run(KAPPA, "--retries", "1", seconds=300)
        print(ended.text)
        assert ended.status == 1
        assert "No space left on device" in last_lines(ended.text)
        disk.empty()
        ended = held.run(KAPPA)
        assert_complete(held, finished, ended.status, ended.text)


def test_what_is_killed_at_random_moments_is_made_all_the_same(held: Held, finished: Checkout) -> None:
    held.release()
    random = Random(0)
    with (held.checkout.folder / "printed").open("w") as file:
        process = held.start("--retries", str(KILLS), stdout=file)
        for number in range(KILLS):
            if process.poll() is not None:
                process = held.start("--retries", str(KILLS), stdout=file)
            wait_for(lambda ended=process.poll: workers(held.checkout) or ended() is not None, "a job to run")
            time.sleep(random.uniform(0, 4))
            found = workers(held.checkout)
            if found and number % 5:
                with suppress(ProcessLookupError):
                    os.kill(random.choice(found), signal.SIGKILL)
            else:
                process.kill()
                process.wait()
        process.kill()
        process.wait()
    ended = held.run("--retries", "5")
    assert_complete(held, finished, ended.status, ended.text, ALL)


def workers(checkout: Checkout) -> list[int]:
    """Return the processes of Python in the jobs of a checkout."""
    found = []
    for process in psutil.process_iter(["name", "cwd", "environ"]):
        facts = process.info
        is_of_job = facts["cwd"] == str(checkout.folder) and "SLURM_JOB_ID" in (facts["environ"] or {})
        if is_of_job and facts["name"].startswith("python"):
            found.append(process.pid)
    return sorted(found)
