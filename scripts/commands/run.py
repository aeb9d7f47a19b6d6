"""Run the pipeline like snakemake, with two lines per stage instead of several per job."""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from benchc.config.load import read_config
from benchc.errors import InputError
from benchc.home import HOME, NEEDS_PIPELINE, SNAKEFILE, find_code_elsewhere, has_pipeline, shipped
from benchc.models.gpus import count_gpus
from benchc.pluralize import pluralize
from benchc.workflow.run_record import TYPED

RESOURCES = ("--resources", "--res")
# With one of these, jobs may run elsewhere, or have resources that an option would replace.
RUN_ELSEWHERE = {"--profile", "--workflow-profile", "--executor", "-e"}
CONFIGFILE = {"--configfile", "--configfiles"}
DIRECTORY, OTHER_SNAKEFILE = {"--directory", "-d"}, {"--snakefile", "-s"}
PROFILE, DEFAULT_PROFILE = "SNAKEMAKE_PROFILE", Path("profiles/default")


def run(
    config: Path,
    /,
    *options: Annotated[str, Parameter(allow_leading_hyphen=True)],
    full: bool = False,
) -> None:
    """Run the pipeline, with two lines per stage on the terminal; what jobs write is in their logs.

    Args:
        config: the run's configuration
        options: options and targets of snakemake, such as `--cores 8`
        full: show all lines of Snakemake and of the jobs
    """
    if not has_pipeline():
        raise InputError(NEEDS_PIPELINE)
    command = command_of(config, options, full=full)
    os.execv(command[0], command)


def command_of(config: Path, options: Sequence[str], *, full: bool = False) -> list[str]:
    """Return the command that runs a configuration with options of Snakemake, for a child of this process.

    ``full``: as for :func:`run`. Raises InputError where the configuration is invalid.
    """
    found = read_config(config)  # an error is one line
    find_code_elsewhere(Path.cwd())
    name = found.settings.name
    os.environ[TYPED] = shlex.join(["benchc", *sys.argv[1:]])
    # As a module, Snakemake finds the logger in this folder.
    command = [sys.executable, "-m", "scripts.commands.run_snakemake"]
    command += ["--configfile", str(shipped(config, Path.cwd()))]
    names = {option.partition("=")[0] for option in options}
    if names & CONFIGFILE:
        raise InputError(
            f"--configfile: the run is that of {config}; put all keys into one file and leave the option out"
        )
    if names & DIRECTORY:
        raise InputError(
            "--directory: all paths are relative to the folder in which the command is called; change to "
            "the other folder and leave the option out, or use snakemake"
        )
    if Path.cwd() != HOME and not names & OTHER_SNAKEFILE:
        command += ["--snakefile", str(SNAKEFILE)]
    if not full:
        command += ["--logger", "stages", "--logger-stages-results", f"results/{name}"]
    # A flag ends a list of configurations or resources, or a target that follows would be one.
    rest = ["--show-failed-logs", "--rerun-incomplete", *options]
    return [*command, *(_with_gpus(rest) if found.most_gpus else rest)]


def _with_gpus(options: list[str]) -> list[str]:
    """Return options, a flag first, with the number of GPUs here, unless they or a profile may have it."""
    names = {option.partition("=")[0] for option in options}
    given = any(re.match(r"(--res(ources)?=)?gpu=", option) for option in options)
    elsewhere = names & RUN_ELSEWHERE or PROFILE in os.environ or DEFAULT_PROFILE.exists()
    count = 0 if given or elsewhere else count_gpus()
    if not count:
        return options
    place = next((options.index(name) for name in RESOURCES if name in options), None)
    if place is None and names.intersection(RESOURCES):
        return options  # as --resources=mem_mb=1000, which takes no second value; Snakemake warns
    print(f"{pluralize(count, 'GPU')} at most at once (--resources gpu={count})", file=sys.stderr)
    if place is None:
        return ["--resources", f"gpu={count}", *options]
    return [*options[: place + 1], f"gpu={count}", *options[place + 1 :]]
