"""nvidia-smi, and a machine where it lists GPUs."""

import os
from pathlib import Path

import pytest

from benchc.models import gpus

# As printed on a real machine.
TWO = """GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-8c7c9c30-f12f-20bf-e14e-d3c4c965af32)
"""


def write_nvidia_smi(folder: Path, listed: str, used: str = "") -> None:
    """Write the program. ``listed``: what it prints for -L; ``used``: for a question about memory."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n[ $1 = -L ] && cat <<END || cat <<END2\n{listed}END\n{used}END2\n")
    program.chmod(0o755)


def use_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process and its children run on a machine with two GPUs; locks are in ``folder``."""
    write_nvidia_smi(folder, TWO)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(gpus, "SECONDS_BETWEEN_TRIES", 0.05)
    for name in (gpus.CUDA, gpus.HIP, *gpus.JOB_OF_SCHEDULER):
        monkeypatch.delenv(name, raising=False)
