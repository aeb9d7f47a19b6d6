"""Run Snakemake, with its options, and end with a line `error:` where it stopped.

With the logger of the stages, what jobs print is dropped, since it is in their logs.
"""

import logging
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from snakemake import cli
from snakemake.logging import logger

from scripts.command import run
from snakemake_logger_plugin_stages.stopped import Stopped

FOLDER_OF_PROFILE = cli.get_profile_dir
HANDLE_ERROR = logging.Handler.handleError


def refuse(parser: ArgumentParser, message: str) -> NoReturn:
    """End with one line in place of the list of Snakemake's options."""
    raise SystemExit(f"error: {message}; snakemake --help describes the options")


def profile_folder(profile: str) -> tuple[Path, Path]:
    """Return a profile's folder and file, as Snakemake does; end with one line where there is none."""
    found: tuple[Path, Path] | None = FOLDER_OF_PROFILE(profile)
    if found is None:
        raise SystemExit(f"error: --profile {profile}: there is no folder of a profile; name its path")
    return found


def handle_error(handler: logging.Handler, record: logging.LogRecord) -> None:
    """Show an error of a log as Python does, but for one that is on a full disk: each line would fail."""
    if not isinstance(sys.exc_info()[1], OSError):
        HANDLE_ERROR(handler, record)


def main() -> None:
    """Run Snakemake with the options of this process. Raises InputError where it stopped, with the reason."""
    stopped = Stopped()
    logger.addFilter(stopped)
    cli.get_profile_dir = profile_folder
    logging.Handler.handleError = handle_error  # type: ignore[method-assign, assignment]
    ArgumentParser.error = refuse  # type: ignore[method-assign, assignment]
    try:
        cli.main()
    except SystemExit as end:
        if end.code:
            stopped.end()
        raise


def print_without_profile(*values: object, **options: Any) -> None:
    """Print what Snakemake prints, but for the line that says which profile was given."""
    if not (values and str(values[-1]).endswith("for setting default command line arguments.")):
        print(*values, **options)


if __name__ == "__main__":
    sys.argv[0] = "snakemake"  # in its messages
    if "--logger" in sys.argv:
        vars(cli)["print"] = print_without_profile
        # Snakemake holds the present stream for its jobs, and prints to the one that replaces it.
        sys.stdout = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    run(main)
