"""Which processes of Snakemake work in this folder, and on which files.

Snakemake's locks name no process, and stay after a kill -9 or the failure of a node. Two processes that start
at one moment both get one, and the first of several that ends removes those of all.
"""

import fcntl
import json
import os
import shutil
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from benchc.workflow.job_facts import STAGE

LOCKS = Path(".snakemake/locks")
OWNERS = Path(".snakemake/owners")
SLURM_JOB = "SLURM_JOB_ID"
SECONDS = 2.0  # by which a process's start may seem to differ


def own(outputs: Iterable[object], inputs: Iterable[object], unlock: str) -> str | None:
    """Record that this process makes files in this folder; return why it must not, None where it may.

    It must not while another one makes the same outputs, makes its inputs, or takes its outputs.
    ``unlock``: the command that removes locks.
    """
    made, taken = {*map(str, outputs)}, {*map(str, inputs)}
    OWNERS.mkdir(parents=True, exist_ok=True)
    with _alone():
        for owner in _conflicting(made, taken):
            return _makes(owner, unlock)
        content = {
            "host": socket.gethostname(),
            "process": os.getpid(),
            "start": psutil.Process().create_time(),
            "outputs": sorted(made),
            "inputs": sorted(taken),
        }
        _own_file().write_text(json.dumps(content))
    return None


def disown() -> None:
    """Remove the record of this process."""
    _own_file().unlink(missing_ok=True)


def unlock_if_dead(unlock: str) -> str | None:
    """Remove the locks of processes that were killed on this machine; return what to say, None for nothing.

    ``unlock``: the command that removes locks, for those of another machine.
    """
    owners, locks = dict(_owners()), list(LOCKS.glob("*.lock"))
    if not locks:
        for file, owner in owners.items():
            if not _may_run(owner):
                file.unlink(missing_ok=True)
        return None
    here = socket.gethostname()
    elsewhere = [owner for owner in owners.values() if owner["host"] != here]
    if elsewhere:
        process, host = elsewhere[0]["process"], elsewhere[0]["host"]
        return f"process {process} on {host} locks this folder; if it no longer runs there: {unlock}"
    if not owners or any(_runs(owner["process"], owner["start"]) for owner in owners.values()):
        return None
    # A process takes its lock before it records itself: a later lock is of one that has not done so yet.
    if max(lock.stat().st_mtime for lock in locks) > max(file.stat().st_mtime for file in owners):
        return None
    shutil.rmtree(LOCKS)
    for file in owners:
        file.unlink(missing_ok=True)
    processes = ", ".join(str(owner["process"]) for owner in owners.values())
    jobs = " ".join(map(str, _jobs_here()))
    still = f"; jobs of it still run, and may be started a second time: kill {jobs} ends them" if jobs else ""
    return (
        f"the run of process {processes} was killed; its lock is removed, and what it finished is kept{still}"
    )


def _jobs_here() -> list[int]:
    """Return the processes of jobs that run in this folder on this machine, but for jobs of SLURM."""
    found, here = [], Path.cwd()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            is_here = STAGE[-1] in process.cmdline() and Path(process.cwd()) == here
            if is_here and process.environ().get(SLURM_JOB) == os.environ.get(SLURM_JOB):
                found.append(process.pid)
    return found


def forget_others() -> None:
    """Remove the records of processes of other machines, and of those here that have ended."""
    for file, owner in _owners():
        if owner["host"] != socket.gethostname() or not _runs(owner["process"], owner["start"]):
            file.unlink(missing_ok=True)


def is_locked() -> bool:
    """Return whether a Snakemake works in this folder, or was killed on another machine."""
    return any(LOCKS.glob("*.lock")) or any(_others())


def locked_outputs() -> set[Path]:
    """Return the outputs of the Snakemakes that work in this folder."""
    found = {Path(output) for owner in _others() for output in owner.get("outputs", ())}
    for lock in LOCKS.glob("*.output.lock"):
        with suppress(OSError):  # it just ended
            found |= {Path(line) for line in lock.read_text().splitlines()}
    return found


def locked_by(outputs: Iterable[object], inputs: Iterable[object], unlock: str) -> str:
    """Return which process locks files that this one would make or take, and what to do.

    ``unlock``: the command that removes locks.
    """
    for owner in _conflicting({*map(str, outputs)}, {*map(str, inputs)}):
        return _makes(owner, unlock)
    return f"another Snakemake locks this folder; wait until it ends, or if none runs: {unlock}"


def _conflicting(made: set[str], taken: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the records of other processes that make what is made or taken, or take what is made."""
    for owner in _others():
        others = {*owner.get("outputs", ())}
        if made & others or taken & others or made & {*owner.get("inputs", ())}:
            yield owner


def _makes(owner: dict[str, Any], unlock: str) -> str:
    process, host = owner["process"], owner["host"]
    ended = "" if host == socket.gethostname() else f"; if it no longer runs there: {unlock}"
    return (
        f"process {process} on {host} makes files of this run in this folder; wait until it ends, "
        f"or end it with Ctrl-C or, on {host}, kill -INT {process}{ended}"
    )


def works(process: int, host: str) -> bool:
    """Return whether a process still runs jobs in this folder, as far as this machine can tell."""
    return any(
        (owner["process"], owner["host"]) == (process, host) and _may_run(owner) for _, owner in _owners()
    )


def _owners() -> Iterator[tuple[Path, dict[str, Any]]]:
    for file in sorted(OWNERS.glob("*.json")):
        try:
            yield file, json.loads(file.read_text())
        except (OSError, ValueError):
            continue  # it just ended, or could not be written


def _others() -> Iterator[dict[str, Any]]:
    """Yield the records of other processes that may run."""
    for file, owner in _owners():
        if file != _own_file() and _may_run(owner):
            yield owner


def _may_run(owner: dict[str, Any]) -> bool:
    """Return whether a process still runs, as far as this machine can tell."""
    return owner["host"] != socket.gethostname() or _runs(owner["process"], owner["start"])


@contextmanager
def _alone() -> Iterator[None]:
    """Run a block in one process at a time."""
    with OWNERS.with_name("owners.lock").open("a") as file:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _own_file() -> Path:
    return OWNERS / f"{socket.gethostname()}-{os.getpid()}.json"


def _runs(process: int, start: float) -> bool:
    try:
        found: float = psutil.Process(process).create_time()
    except psutil.NoSuchProcess:
        return False
    return abs(found - start) < SECONDS
