"""Which processes of Snakemake work in this folder, so that the lock of a killed one is no dead end.

Snakemake's locks name no process, and stay after a kill -9 or the failure of a node.
"""

import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

LOCKS = Path(".snakemake/locks")
OWNERS = Path(".snakemake/owners")
SECONDS = 2.0  # by which a process's start may seem to differ


def own() -> None:
    """Record that this process runs jobs in this folder."""
    OWNERS.mkdir(parents=True, exist_ok=True)
    content = {"host": socket.gethostname(), "process": os.getpid(), "start": psutil.Process().create_time()}
    _own_file().write_text(json.dumps(content))


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
            if not _runs(owner["process"], owner["start"]):
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
    return f"the run of process {processes} was killed; its lock is removed, and what it finished is kept"


def is_locked() -> bool:
    """Return whether a Snakemake works in this folder, or was killed on another machine."""
    return any(LOCKS.glob("*.lock"))


def locked_by(unlock: str) -> str:
    """Return which process locks this folder for jobs that this one would run, and what to do.

    ``unlock``: the command that removes locks.
    """
    here = socket.gethostname()
    for _, owner in _owners():
        process, host = owner["process"], owner["host"]
        if host != here or _runs(process, owner["start"]):
            return (
                f"process {process} on {host} makes files of this run in this folder; wait until it ends, "
                "or end it with Ctrl-C"
            )
    return f"another Snakemake locks this folder; wait until it ends, or if none runs: {unlock}"


def _owners() -> Iterator[tuple[Path, dict[str, Any]]]:
    for file in sorted(OWNERS.glob("*.json")):
        try:
            yield file, json.loads(file.read_text())
        except (OSError, ValueError):
            continue  # it just ended, or could not be written


def _own_file() -> Path:
    return OWNERS / f"{socket.gethostname()}-{os.getpid()}.json"


def _runs(process: int, start: float) -> bool:
    try:
        found: float = psutil.Process(process).create_time()
    except psutil.NoSuchProcess:
        return False
    return abs(found - start) < SECONDS
