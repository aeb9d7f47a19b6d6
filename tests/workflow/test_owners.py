"""What is said of the process that makes files in a folder."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from benchc.workflow import owners

HOST = socket.gethostname()
UNLOCK = "snakemake --unlock"


@pytest.fixture(autouse=True)
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    """A process that makes `b` of `a` in the working directory, and has no lock of Snakemake."""
    monkeypatch.chdir(tmp_path)
    owners.own(["b"], ["a"], UNLOCK)
    process = psutil.Process(os.getppid())
    (file,) = owners.OWNERS.iterdir()
    content = json.loads(file.read_text()) | {"process": process.pid, "start": process.create_time()}
    file.rename(file.with_stem(f"{HOST}-{process.pid}")).write_text(json.dumps(content))
    yield process


def test_a_locked_folder_says_how_to_end_a_run_without_a_terminal(other: psutil.Process) -> None:
    how = f"or end it with Ctrl-C or, on {HOST}, kill -INT {other.pid}"
    assert owners.locked_by(["b"], [], UNLOCK).endswith(how)
    # It makes nothing of this run.
    assert owners.locked_by(["c"], ["a"], UNLOCK).startswith("another Snakemake locks this folder; wait")
    assert owners.is_locked() and owners.locked_outputs() == {Path("b")}


@pytest.mark.parametrize(
    ("outputs", "inputs", "is_refused"),
    [
        (["b", "c"], [], True),
        (["c"], ["b"], True),
        (["a"], [], True),
        (["c"], ["a"], False),  # both take it
        ([], [], False),
    ],
)
def test_two_processes_do_not_make_or_take_the_same_file(
    outputs: list[str], inputs: list[str], is_refused: bool, other: psutil.Process
) -> None:
    said = owners.own(outputs, inputs, UNLOCK)
    own = owners.OWNERS / f"{HOST}-{os.getpid()}.json"
    if is_refused:
        assert said is not None and said.startswith(f"process {other.pid} on {HOST} makes files of this run")
    else:
        assert said is None
    assert own.exists() != is_refused
    owners.disown()
    assert not own.exists()


def test_a_process_that_has_ended_stands_in_no_way(other: psutil.Process) -> None:
    (file,) = owners.OWNERS.iterdir()
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "start": content["start"] - 100}))
    assert owners.own(["b"], [], UNLOCK) is None
    assert owners.locked_outputs() == set()


@pytest.mark.parametrize("slurm_job", [None, "7"])
def test_jobs_of_a_killed_run_that_still_run_are_named_but_those_of_slurm(slurm_job: str | None) -> None:
    owners.LOCKS.mkdir(parents=True)
    (owners.LOCKS / "0.output.lock").touch()
    (file,) = owners.OWNERS.iterdir()
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "start": content["start"] - 100}))
    waiting = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()", "scripts.stage"]
    environment = {**os.environ} | ({} if slurm_job is None else {"SLURM_JOB_ID": slurm_job})
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(waiting, env=environment, **pipes) as job:
        assert job.stdout is not None and job.stdout.readline()
        said = owners.unlock_if_dead(UNLOCK)
        job.communicate()
    jobs = f"; jobs of it still run, and may be started a second time: kill {job.pid} ends them"
    assert said is not None and said.endswith("is kept" + ("" if slurm_job else jobs))
    assert not owners.LOCKS.exists()


def test_a_process_on_another_machine_is_taken_to_run_until_the_folder_is_unlocked() -> None:
    (file,) = owners.OWNERS.iterdir()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"host": "elsewhere", "start": 0.0}))
    assert owners.unlock_if_dead(UNLOCK) is None
    said = owners.own(["b"], [], UNLOCK)
    assert said is not None and said.endswith(f"; if it no longer runs there: {UNLOCK}")
    owners.forget_others()
    assert owners.own(["b"], [], UNLOCK) is None
