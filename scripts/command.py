"""What scripts share: a parser, and one line instead of a traceback for a user-fixable error."""

import argparse
from collections.abc import Callable
from typing import NoReturn

from benchc.errors import InputError


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
    """Run a script's ``main``; an InputError ends the process with its message and status 1."""
    try:
        main()
    except InputError as error:
        raise SystemExit(f"error: {error}") from error
