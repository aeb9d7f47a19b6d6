"""The lines of jobs' logs that a user must see."""

import errno
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchc.errors import of_file
from benchc.pluralize import pluralize

LONGEST = 600  # characters of a line of Snakemake's errors
WAITING = "waiting for "
REASONS = 3  # of rejected rows, the most frequent first
REJECTED = re.compile(r"  [\d,]+ rejected: ")


def error_of(logs: Iterable[str]) -> str:
    """Return the last line of a job's log that begins with `error:`, and the log's path."""
    found = ""
    for log in logs:
        lines = lines_of(log)
        errors = [line.removeprefix("error:") for line in lines if line.startswith("error:")]
        if not lines and is_on_full_disk(log):
            found += f": {of_file(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), log))}"
            continue
        found += f":{errors[-1]}" if errors else ""
        # The path also says which of a rule's jobs it is.
        found += f"; see {log}" if lines else f"; its log {log} has no line"
    return found


def is_on_full_disk(log: str) -> bool:
    """Return whether a log is on a disk that is full."""
    try:
        usage = shutil.disk_usage(Path(log).parent)
    except OSError:
        return False
    # Some mounts do not know their size.
    return usage.used > 0 and usage.free == 0


def cause_of(message: str | None) -> str:
    """Return what an executor says of a job that failed, without where Snakemake sends the reader."""
    text = (message or "").partition("For further error details")[0].strip()
    return f"; {text.rstrip('.')}" if text else ""


def is_waiting(logs: Iterable[str]) -> bool:
    """Return whether a job stopped since it waits for people: its log then ends with a line that says so."""
    return any(line.startswith(WAITING) for log in logs for line in lines_of(log)[-1:])


def shortened(text: str) -> str:
    """Return a text whose longest lines, such as the command of an inference job, lack their middle."""
    lines = text.splitlines()
    return "\n".join(
        line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} […] {line[-LONGEST // 2 :]}"
        for line in lines
    )


def warnings_of(log: str) -> Iterator[str]:
    """Yield the lines of a job's log that begin with `warning:`, and one line about rejected rows.

    Rows are rejected where the log has the lines of `benchc.sources.report.summary`.
    """
    heading, rejected = "", list[str]()
    for line in lines_of(log):
        if line.startswith("warning:"):
            yield line
        elif REJECTED.match(line):
            rejected.append(line.strip())
        elif not line.startswith(" "):
            heading = heading if rejected else line
    if rejected:
        more = [pluralize(len(rejected) - REASONS, "more reason")] if len(rejected) > REASONS else []
        yield f"warning: {'; '.join([heading, *rejected[:REASONS], *more])}"


def lines_of(log: str) -> list[str]:
    """Return the lines of a log; none where the job has not written it."""
    return Path(log).read_text(errors="replace").splitlines() if Path(log).is_file() else []
