"""What `benchc check` found: one line each, by stage of the run."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal, TypeVar

from benchc.errors import InputError

# made: the run makes it; fetch: the run downloads it; skipped: could not be checked here.
Level = Literal["ok", "note", "made", "fetch", "skipped", "warning", "error"]

Result = TypeVar("Result")
# A check yields findings and returns what the next ones need.
Findings = Generator["Finding", None, Result]


@dataclass(frozen=True)
class Finding:
    """One line. ``subject``: the id, task type or folder that it is about."""

    stage: str
    level: Level
    subject: str
    text: str


def reason(error: InputError | OSError) -> str:
    """Return an error that a user can fix as text; that of the file system names the file."""
    if isinstance(error, OSError) and error.filename is not None:
        where, why = error.filename, error.strerror
        return f"{where}: cannot be read or written ({why}); correct its path or permissions"
    return str(error)
