"""Run the pipeline, with one line per stage on the terminal; what jobs write is in their logs.

All arguments after the configuration are options and targets of snakemake, such as `--cores 8`. Run it in the
repository's root, like snakemake.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.command import Parser, run
from scripts.plan import read_config


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.run") -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    parser.usage = "%(prog)s [-h] config [--full] [options and targets of snakemake]"
    parser.add_argument("config", type=Path, help="the run's configuration")
    parser.add_argument("--full", action="store_true", help="show all lines of Snakemake and of the jobs")
    arguments, others = parser.parse_known_args(argv)
    name = read_config(arguments.config).settings.name  # an error is one line
    # As a module, Snakemake finds the logger in this folder.
    module = "snakemake" if arguments.full else "scripts.run_quietly"
    command = [sys.executable, "-m", module, "--configfile", str(arguments.config)]
    if not arguments.full:
        command += ["--logger", "stages", "--logger-stages-results", f"results/{name}"]
    # A flag ends the list of configurations, or a target that follows would be one.
    command += ["--show-failed-logs", *others]
    os.execv(sys.executable, command)


if __name__ == "__main__":
    run(main)
