"""Whether a job has ended, and why it failed, by SLURM's state, its exit status and the logs."""

from pathlib import Path

import pytest

from benchc.cluster.states import Cause, cancel, ended, exit_file, fault, queue, reasons

OOM = "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0. Some of your processes may"
TIMED_OUT = "slurmstepd: error: *** JOB 7 ON node1 CANCELLED AT 2026-11-27T03:00:00 DUE TO TIME LIMIT ***"


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    return [tmp_path / "job.log", tmp_path / "slurm.log"]


@pytest.mark.parametrize("state", ["PENDING", "RUNNING", "COMPLETING", "REQUEUED", None])
def test_a_job_without_status_whose_state_is_not_final_goes_on(logs: list[Path], state: str | None) -> None:
    assert ended(state, logs) is None


@pytest.mark.parametrize("state", ["RUNNING", "COMPLETED", "FAILED", "CANCELLED", None])
def test_a_status_of_0_is_success_whatever_follows_it(logs: list[Path], state: str | None) -> None:
    exit_file(logs[0]).write_text("0\n")
    found = ended(state, logs)
    assert found is not None and found.cause is None


def test_a_job_that_slurm_calls_completed_has_succeeded(logs: list[Path]) -> None:
    found = ended("COMPLETED", logs)
    assert found is not None and found.cause is None


@pytest.mark.parametrize(
    ("state", "status", "log", "cause"),
    [
        ("OUT_OF_MEMORY", None, "", Cause.MEMORY),
        # Its batch script ends normally after a step was killed.
        ("FAILED", None, OOM, Cause.MEMORY),
        ("RUNNING", 137, OOM, Cause.MEMORY),
        (None, 1, OOM, Cause.MEMORY),
        ("TIMEOUT", None, "", Cause.TIME),
        ("FAILED", None, TIMED_OUT, Cause.TIME),
        ("NODE_FAIL", None, "", Cause.NODE),
        ("CANCELLED", None, "", Cause.CANCELLED),
        ("PREEMPTED", None, "", Cause.PREEMPTED),
        ("FAILED", 1, "error: no such file", Cause.ERROR),
        ("COMPLETED", 1, "error: no such file", Cause.ERROR),
        (None, 1, "", Cause.ERROR),
        # What is killed may leave a status.
        ("TIMEOUT", 143, "", Cause.TIME),
        ("FAILED", None, "slurmstepd: error: Exceeded job memory limit at some point.", Cause.MEMORY),
        # Of what it was before.
        (None, 1, f"{OOM}\n{'line ' * 5000}", Cause.ERROR),
        ("FAILED", 1, "error: the cache is above its memory limit", Cause.ERROR),
    ],
)
def test_the_cause_of_a_failure(
    logs: list[Path], state: str | None, status: int | None, log: str, cause: Cause
) -> None:
    if status is not None:
        exit_file(logs[0]).write_text(f"{status}\n")
    for place in logs:
        for other in logs:
            other.write_text(log if other == place else "")
        found = ended(state, logs)
        assert found is not None and found.cause is cause


def test_a_status_that_is_being_written_is_none_yet(logs: list[Path]) -> None:
    exit_file(logs[0]).write_text("")
    assert ended("RUNNING", logs) is None


@pytest.mark.parametrize(
    ("squeue", "expected"),
    [
        ("echo '7|RUNNING'; echo '8|FAILED'; echo", {"7": "RUNNING", "8": "FAILED"}),
        ("printf '7|\\344\\n'", {"7": "\ufffd"}),  # a comment in another encoding
        ("true", {}),
        # Else all jobs would be lost.
        ("echo '7|RUNNING'; exit 1", None),
    ],
)
def test_a_queue_that_does_not_answer_is_not_empty(
    squeue: str, expected: dict[str, str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "squeue"
    command.write_text(f"#!/bin/sh\n{squeue}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert queue() == expected
    command.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert queue() is None


def test_only_reasons_that_may_not_end_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = [
        "7|PENDING PartitionDown",
        "8|PENDING Priority",
        "9|RUNNING None",
        "6|PENDING ReqNodeNotAvail, n1",
    ]
    command = tmp_path / "squeue"
    command.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in waiting))
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert reasons() == {"7": "PartitionDown", "6": "ReqNodeNotAvail, n1"}
    command.write_text("#!/bin/sh\nexit 1\n")
    assert reasons() == {}


def test_all_jobs_are_cancelled_in_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "scancel"
    command.write_text(f"#!/bin/sh\necho $* >> {tmp_path}/calls; exit 1\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    cancel([])
    cancel(["7", "8"])
    assert (tmp_path / "calls").read_text() == "7 8\n"


def test_the_last_exception_of_a_job_is_found(logs: list[Path]) -> None:
    assert fault(logs[0]) is None
    logs[0].write_text(
        "KeyError: 1\nWorkflowError:\nFailed to create output directory a/b.\n"
        "OSError: [Errno 30] Read-only file system: 'a'\nsrun: error: node1: task 0: Exited\n"
        "WorkflowError:\nAt least one job did not complete successfully.\n"
    )
    assert fault(logs[0]) == "OSError: [Errno 30] Read-only file system: 'a'"
    logs[0].write_text("error: a file cannot be read\n")
    assert fault(logs[0]) is None
