"""Run a stage by its command line, in a process of its own or in the test's."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchc.workflow.stage import options
from scripts.command import call
from scripts.stage import stage_function

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable


@pytest.fixture
def preloaded_stages(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stages of the test run in the python that starts faster."""
    monkeypatch.setattr(sys.modules[__name__], "PYTHON", str(python))


def command_of(stage: str, *words: object, **arguments: Any) -> list[str]:
    """Return the command of a stage: arguments as a rule gives them, and words as they are."""
    given = [option for name, value in arguments.items() for option in options(name, value)]
    return [PYTHON, "-m", "scripts.stage", stage, *given, *map(str, words)]


def run_stage(stage: str, *words: object, **arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run a stage in a process of its own."""
    command = command_of(stage, *words, **arguments)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def call_stage(stage: str, *words: object, **arguments: Any) -> Any:
    """Run a stage's command line in this process; a usage error is SystemExit."""
    return call(stage_function(stage), command_of(stage, *words, **arguments)[4:], f"stage {stage}")
