"""Which Python the Makefile installs with."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# What pyenv puts on the path for a version that is installed and not active.
INACTIVE = "exit 127"
PYTHON = f'exec "{sys.executable}" "$@"'


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"python3.11": INACTIVE, "python3.12": PYTHON, "python3.13": PYTHON}, "python3.12"),
        ({"python3.13": PYTHON, "python3.10": PYTHON, "python3": PYTHON}, "python3.13"),
        ({"python3.10": PYTHON}, "python3"),
    ],
)
def test_the_first_version_that_runs_is_taken(found, expected, tmp_path):
    for name in ("make", "sh", "sed"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    for name, text in found.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    command = ["make", "--dry-run", "install", f"VENV={tmp_path}/venv"]
    done = subprocess.run(
        command, cwd=ROOT, env={"PATH": str(tmp_path)}, text=True, capture_output=True, check=True
    )
    assert Path(done.stdout.split()[0]).name == expected
