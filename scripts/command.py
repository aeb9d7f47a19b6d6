"""What scripts share: a parser, and one line instead of a traceback for a user-fixable error."""

import argparse
import errno
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from benchc.errors import InputError

# As a shell reports a process that SIGPIPE ended.
BROKEN_PIPE = 141

FIXES = {
    errno.ENOSPC: "free disk space and run it again",
    errno.EDQUOT: "free disk space and run it again",
    errno.EFBIG: "raise the limit on the size of a file (ulimit -f) and run it again",
    errno.EROFS: "write to another folder",
    errno.EACCES: "change the permissions, or use another folder",
    errno.EPERM: "change the permissions, or use another folder",
}


class Parser(argparse.ArgumentParser):
    """A parser of a module's command line: ``Parser(__spec__.name, __doc__)``.

    ``--help`` shows the module's docstring as it is written. An error is one line, and the exit status is 2.
    """

    def __init__(self, module: str, doc: str | None, prog: str | None = None) -> None:
        super().__init__(
            prog=prog or f"python -m {module}",
            description=doc,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}; see {self.prog} --help\n")


def run(main: Callable[[], None]) -> None:
    """Run a script's ``main``; what a user can fix ends the process with one line per error and status 1.

    This is an InputError, or an error of the file system, such as a full disk. Where the reader of standard
    output has closed it, as ``head`` does, the process ends silently.
    """
    try:
        main()
        sys.stdout.flush()
    except InputError as error:
        raise SystemExit("\n".join(f"error: {printable(str(line))}" for line in error.args)) from error
    except BrokenPipeError:
        # Python flushes the stream again when it ends, and would print an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(BROKEN_PIPE) from None
    except OSError as error:
        if error.errno is None:  # of a library, which says nothing about a file
            raise
        where = "standard output or a file" if error.filename is None else str(error.filename)
        fix = FIXES.get(error.errno, "check the path and run it again")
        reason = error.strerror or os.strerror(error.errno)
        raise SystemExit(f"error: {printable(where)}: cannot be read or written ({reason}); {fix}") from error


def printable(text: str) -> str:
    """Return ``text`` in one line: names from data may contain line breaks and a terminal's control codes."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )
