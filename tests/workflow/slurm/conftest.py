"""A real SLURM for tests, one at a time on a machine, and runs of the small configurations on it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest
import yaml

from tests.workflow.checkout import Checkout
from tests.workflow.slurm.cluster import Cluster, Settings, is_possible, running, said

# As a job without a network would.
WITHOUT_NETWORK = """#!/bin/bash
exec unshare --net {python} "$@"
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Cluster]]:
    """Start a cluster with settings, in place of the one before; it is stopped after the tests of a file."""
    if not is_possible():
        pytest.skip("needs root and Debian's packages of SLURM (make slurm)")
    with ExitStack() as stack:

        def start(**settings: object) -> Cluster:
            stack.close()
            # Its sockets have short names.
            folder = Path(tmp_path_factory.mktemp("slurm"))
            return stack.enter_context(running(folder, Settings(**settings)))  # type: ignore[arg-type]

        yield start


@dataclass(frozen=True)
class Ended:
    """A run that ended: its status and what it printed."""

    status: int
    text: str


class ClusterRun:
    """A checkout whose jobs go to a cluster. ``command``: what is given the configuration."""

    command: tuple[str, ...] = ("snakemake", "--configfile")

    def __init__(self, checkout: Checkout, **site: object) -> None:
        self.checkout = checkout
        # Jobs run the `python` on the path, and Snakemake its own.
        commands = checkout.folder / "commands"
        commands.mkdir(exist_ok=True)
        (commands / "python").write_text(WITHOUT_NETWORK.format(python=sys.executable))
        (commands / "python").chmod(0o755)
        content = {
            "partitions": {
                "cpu": {"max_mem_mb": 16_000, "max_threads": 8, "max_runtime": "1-00:00:00"},
                "gpu": {"max_gpu": 2, "max_mem_mb": 16_000, "max_threads": 8},
            },
            "seconds_between_polls": 1,
            "environment": {"PATH": f"{commands}:{os.environ['PATH']}"},
            **site,
        }
        (checkout.folder / "slurm/site.yaml").write_text(yaml.safe_dump(content))
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, stdout: IO[str] | int = subprocess.PIPE) -> "subprocess.Popen[str]":
        """Start a run on the cluster."""
        command = [
            sys.executable,
            "-m",
            *self.command,
            self.checkout.config,
            "--profile",
            "slurm",
            *arguments,
        ]
        process = subprocess.Popen(
            command,
            cwd=self.checkout.folder,
            env=self.checkout.environment,
            text=True,
            stdout=stdout,
            stderr=subprocess.STDOUT,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str, seconds: float = 1800.0) -> Ended:
        """Run to the end, or kill the run after so long, also on a busy machine."""
        process = self.start(*arguments)
        try:
            text, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
        return Ended(process.returncode, text)

    def jobs(self) -> dict[str, dict[str, str]]:
        """Return what accounting says of all submissions, by id: rules, request, state."""
        fields = ("JobID", "Comment", "ReqMem", "ReqCPUS", "ReqTRES", "TimelimitRaw", "Partition", "State")
        lines = said(
            "sacct", "-n", "-P", "-X", "-S", "now-1days", f"--format={','.join(fields)}"
        ).splitlines()
        rows = [dict(zip(fields, line.split("|"), strict=True)) for line in lines]
        return {row["JobID"]: row for row in rows}


def rules_of(job: dict[str, str]) -> set[str]:
    """Return the rules of a submission."""
    return set(re.findall(r"rule_(\w+)", job["Comment"]))


def copied(checkout: Checkout, folder: Path, *kept: str) -> Checkout:
    """Return a copy with the models that runs train and generated sources, and ``kept`` folders of a run."""
    found = checkout.copy(folder, "logs", ".snakemake", ".cache")
    shutil.rmtree(folder / "results/fly")
    for path in (folder / "results/small").iterdir():
        if path.name not in (*kept, *([".provenance"] if kept else [])):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return found
