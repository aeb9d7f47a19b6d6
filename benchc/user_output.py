"""Files that a command writes where its user says."""

from collections.abc import Iterable
from pathlib import Path

from benchc.errors import InputError

# Repeated from benchc/workflow/run_record.py, which imports what a light installation has not.
RECORD = "run.json"


def refuse_overwriting(output: Path, inputs: Iterable[Path]) -> None:
    """Raise InputError where ``output``, a file or folder, is one of the inputs, or in a run's folder."""
    full = output.resolve()
    for path in inputs:
        if path.resolve() == full:
            raise InputError(f"--output {output}: is also an input, and would be lost; name another file")
    if run := next((folder for folder in (full, *full.parents) if (folder / RECORD).is_file()), None):
        raise InputError(
            f"--output {output}: is in {run}, the folder of a run, whose files it may replace; name another "
            "place"
        )
