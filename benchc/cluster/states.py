"""What SLURM's commands say of jobs: their ids, why they are refused, their states, and why one failed."""

import os
import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

# A job in any other state is waiting, running or about to.
ENDED = {
    *("COMPLETED", "BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED"),
    *("NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
}
# Why a job waits that will start.
PASSING = {"None", "Priority", "Resources", "Dependency", "BeginTime", "Cleaning", "Prolog", "Nodes"}
SECONDS = 60.0  # for SLURM to answer
LAST_BYTES = 20_000  # of a log
# Of sbatch --parsable, between lines that a site may add.
JOB_ID = re.compile(r"^(\d+)(?:;\S+)?$", re.MULTILINE)

# Of an exception in a job's log.
FAULT = re.compile(r"^\w*Error: .+", re.MULTILINE)


class Cause(Enum):
    """Why a job failed, in words."""

    MEMORY = "out of memory"
    TIME = "time limit"
    NODE = "its node failed"
    PREEMPTED = "preempted"
    CANCELLED = "cancelled (by scancel, or preempted)"
    LOST = "SLURM no longer knows it, and it left no exit status"
    ERROR = "failed"


@dataclass(frozen=True)
class Ended:
    """A job that ended. ``cause``: None if it succeeded."""

    cause: Cause | None


# Lines that SLURM writes to a job's log, from the most to the least specific.
LINES = (
    (r"oom[-_]kill", Cause.MEMORY),
    # Programs have memory limits, too.
    (r"slurmstepd.* memory limit", Cause.MEMORY),
    ("DUE TO TIME LIMIT", Cause.TIME),
    ("DUE TO NODE FAILURE", Cause.NODE),
    ("DUE TO PREEMPTION", Cause.PREEMPTED),
)
STATES = {
    "OUT_OF_MEMORY": Cause.MEMORY,
    "TIMEOUT": Cause.TIME,
    "DEADLINE": Cause.TIME,
    "NODE_FAIL": Cause.NODE,
    "BOOT_FAIL": Cause.NODE,
    "PREEMPTED": Cause.PREEMPTED,
    "CANCELLED": Cause.CANCELLED,
    "REVOKED": Cause.CANCELLED,
}


def job_id(output: str) -> str | None:
    """Return the id of a job in what sbatch printed; None where there is none."""
    match = JOB_ID.search(output)
    return None if match is None else match[1]


def refusal(errors: str) -> str:
    """Return in one line why sbatch refused a job, by what it printed to standard error."""
    return " ".join(line.removeprefix("sbatch: error: ") for line in errors.strip().splitlines())


def queue() -> dict[str, str] | None:
    """Return the state of each of the user's jobs that SLURM still knows, by id; None where it cannot say."""
    return _queue("%T")


def comments() -> dict[str, str] | None:
    """Return the comment of each of the user's jobs by id; None where SLURM cannot say."""
    return _queue("%k")


def times() -> dict[str, str] | None:
    """Return how long each of the user's jobs has run, such as 3:21, by id; None where SLURM cannot say."""
    return _queue("%M")


def reasons() -> dict[str, str]:
    """Return why each job waits that may wait for ever; none where SLURM cannot say."""
    found = _queue("%T %r") or {}
    waiting = {
        id_: text.removeprefix("PENDING ") for id_, text in found.items() if text.startswith("PENDING ")
    }
    return {id_: reason for id_, reason in waiting.items() if reason not in PASSING}


def _queue(field: str) -> dict[str, str] | None:
    # By number, since the environment may have another name.
    command = ["squeue", "--noheader", "--states=all", f"--format=%A|{field}", "--user", str(os.getuid())]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    pairs = (line.strip().partition("|") for line in done.stdout.splitlines())
    return {id_: text for id_, _, text in pairs if id_}


def is_live(states: Mapping[str, str], id_: str) -> bool:
    """Return whether a job waits or runs, by the states of :func:`queue`."""
    return id_ in states and states[id_] not in ENDED


def exit_file(log: Path) -> Path:
    """Return the file with the exit status of the job that writes a log."""
    return log.with_suffix(".exit")


def ended(state: str | None, logs: Sequence[Path]) -> Ended | None:
    """Return how a job ended; None where it has not, or where it cannot be known yet.

    ``state``: what SLURM says of the submission in which it runs; None where SLURM does not know it, or no
    longer. ``logs``: of the job, and of that submission, in which others may run after it.
    """
    status = _exit_status(logs[0])
    if status is None and (state is None or state not in ENDED):
        return None
    if status == 0 or (status is None and state == "COMPLETED"):
        return Ended(None)
    return Ended(_cause(None if status is not None and state == "COMPLETED" else state, logs))


def _cause(state: str | None, logs: Sequence[Path]) -> Cause:
    """Return why a job failed, by SLURM's state and by what it wrote to the logs."""
    if state in STATES:
        return STATES[state]
    text = "\n".join(map(_last_lines, logs))
    return next((cause for line, cause in LINES if re.search(line, text)), Cause.ERROR)


def fault(log: Path) -> str | None:
    """Return the last exception in a job's log, such as that of a full disk; None where there is none."""
    found = FAULT.findall(_last_lines(log))
    return found[-1] if found else None


def _exit_status(log: Path) -> int | None:
    try:
        return int(exit_file(log).read_text())
    except (OSError, ValueError):
        return None


def _last_lines(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - LAST_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def cancel(ids: Collection[str]) -> None:
    """Cancel jobs; those that have ended are left alone."""
    if ids:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(["scancel", *ids], capture_output=True, timeout=SECONDS, check=False)
