"""Runs on a real SLURM whose jobs of one stage wait, or do something before they begin."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import indent

from tests.workflow.checkout import Checkout
from tests.workflow.slurm.cluster import said
from tests.workflow.slurm.conftest import ClusterRun, copied

# A job that waits for a file, so that a test decides when it ends.
WAITS = """#!/bin/bash
case "$*" in
*scripts.stage\\ "{stage}"*) while [ ! -e {go} ]; do sleep 0.1; done ;;
esac
exec {python} "$@"
"""
# A job that runs some lines of Python before its stage.
FIRST = """#!/bin/bash
case "$*" in
*scripts.stage\\ "infer"*/pool/letters/*) exec {python} {first} "$@" ;;
esac
exec {python} "$@"
"""
THEN = """
import runpy, sys
sys.path.insert(0, "")
del sys.argv[0]  # so that "-m" is the program
sys.argv[:2] = ["stage"]
runpy.run_module("scripts.stage", run_name="__main__", alter_sys=True)
"""


def wait_for(is_there: Callable[[], object], what: str, seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < end, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.2)


def states() -> dict[str, str]:
    """Return the state of each job by id."""
    return dict(line.split("|") for line in said("squeue", "-h", "-t", "all", "-o", "%A|%T").splitlines())


class Held(ClusterRun):
    """A run whose jobs of one stage wait until :meth:`release`."""

    def __init__(self, checkout: Checkout, stage: str, **site: object) -> None:
        super().__init__(checkout, **site)
        self.go = checkout.folder / "go"
        python = checkout.folder / "commands/python"
        python.write_text(WAITS.format(stage=stage, go=self.go, python=sys.executable))

    def release(self) -> None:
        self.go.touch()

    def do_first(self, lines: str) -> None:
        """Let the first model's job of predictions run some lines of Python before, and none wait."""
        first = self.go.with_name("first.py")
        # Not in the processes that the stage starts.
        first.write_text("if __name__ == '__main__':\n" + indent(lines + THEN, "    "))
        python = self.checkout.folder / "commands/python"
        python.write_text(FIRST.format(python=sys.executable, first=first))

    def held(self) -> list[str]:
        """Return the ids of the jobs that run."""
        return [id_ for id_, state in states().items() if state == "RUNNING"]


def held_run(finished: Checkout, folder: Path, **site: object) -> Iterator[Held]:
    """Yield the small run, whose jobs of `infer` wait; what it has started is ended afterwards."""
    run = Held(copied(finished, folder / "benchc", "sources", "pool", "corrupted"), "infer", **site)
    yield run
    for process in run.started:
        process.kill()
    subprocess.run(["scancel", "--user", "root"], check=False)
    wait_for(lambda: not run.held(), "jobs to end", 60)


def killed(run: Held, until: Callable[[], object]) -> None:
    """Start a run and kill Snakemake with what it has started here, but no job."""
    process = run.start()
    wait_for(until, "jobs to run")
    process.send_signal(signal.SIGKILL)
    process.communicate()


def is_held(run: Held, number: int = 1) -> bool:
    logs = list((run.checkout.folder / ".snakemake/slurm_logs/infer").rglob("*.log"))
    return len(run.held()) >= number and any(log.stat().st_size for log in logs)
