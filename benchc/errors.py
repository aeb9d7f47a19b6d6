"""User-fixable errors."""

import errno
import os

from benchc.redaction import redacted

LONGEST = 4000  # characters of a line
FIXES = {
    errno.ENOSPC: "free disk space and run it again",
    errno.EDQUOT: "free disk space and run it again",
    errno.EFBIG: "raise the limit on the size of a file (ulimit -f) and run it again",
    errno.EROFS: "write to another folder",
    errno.EACCES: "change the permissions, or use another folder",
    errno.ENOTDIR: "move the file that is in place of a folder",
    errno.EPERM: "change the permissions, or use another folder",
}


class InputError(ValueError):
    """An input cannot be used. Each of ``args`` is one line: what is wrong, where, and how to fix it.

    Without secrets, which a server or a library may repeat in a text that becomes part of a line. Of a line
    that repeats a long name or value, the middle is left out.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__(*(_short(redacted(str(line))) for line in lines))


def _short(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"


def recreate(*outputs: str) -> str:
    """Return how to recreate ``outputs``, folders of a run, as the end of an error's line."""
    return f"delete {' and '.join(outputs)} in the run's folder and run snakemake again"


def of_file(error: OSError) -> str:
    """Return an error of the file system as one line; ``error`` has a number."""
    where = "standard output, a file or /dev/shm" if error.filename is None else str(error.filename)
    fix = FIXES.get(error.errno or 0, "check the path and run it again")
    return f"{where}: cannot be read or written ({error.strerror or os.strerror(error.errno or 0)}); {fix}"
