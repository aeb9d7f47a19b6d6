"""Run the pipeline like snakemake, with one line per stage instead of several per job."""

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from benchc.config.load import read_config


def run(
    config: Path,
    /,
    *options: Annotated[str, Parameter(allow_leading_hyphen=True)],
    full: bool = False,
) -> None:
    """Run the pipeline, with two lines per stage on the terminal; what jobs write is in their logs.

    Run it in the repository's root, like snakemake.

    Args:
        config: the run's configuration
        options: options and targets of snakemake, such as `--cores 8`
        full: show all lines of Snakemake and of the jobs
    """
    name = read_config(config).settings.name  # an error is one line
    # As a module, Snakemake finds the logger in this folder.
    module = "snakemake" if full else "scripts.commands.run_quietly"
    command = [sys.executable, "-m", module, "--configfile", str(config)]
    if not full:
        command += ["--logger", "stages", "--logger-stages-results", f"results/{name}"]
    # A flag ends the list of configurations, or a target that follows would be one.
    command += ["--show-failed-logs", *options]
    os.execv(sys.executable, command)
