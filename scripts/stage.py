"""Run one stage of the pipeline: a function of its own file, whose parameters are the options.

    python -m scripts.stage read_source --tsv my.tsv --source my --parquet items.parquet --report report.csv

The stages of a benchmark are in its folder: `NAME.score`. A table, figure or page is a stage, too,
named by its module: `NAME.tables.table2`, or `my_tables.by_source` of your own. `python -m
scripts.stage STAGE --help` shows what a stage does and its options.
"""

import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from benchc.errors import InputError
from benchc.home import PACKAGE
from benchc.workflow.job_facts import recorded_facts
from scripts.command import call, in_utf8, purpose, run

SCRIPTS = Path(__file__).parent


def main() -> None:
    name, *arguments = sys.argv[1:] or ["--help"]
    if name in ("-h", "--help"):
        print(usage())
    else:
        with recorded_facts([name, *arguments]):
            call(stage_function(name), arguments, f"python -m scripts.stage {name}")


def stages() -> dict[str, Path]:
    """Return the files of all stages by name: those that define the function of their name."""
    found = {}
    for path in sorted([*SCRIPTS.glob("[a-z]*.py"), *SCRIPTS.glob("*/[a-z]*.py")]):
        if path.parent.name != "commands" and f"\ndef {path.stem}(" in path.read_text():
            found[".".join(path.relative_to(SCRIPTS).with_suffix("").parts)] = path
    return found


def stage_function(name: str) -> Callable[..., Any]:
    """Return the function of a stage. Raises InputError where there is none."""
    found = stages()
    if name in found:
        function: Callable[..., Any] = getattr(import_module(f"scripts.{name}"), found[name].stem)
        return function
    if "." in name and all(part.isidentifier() for part in name.split(".")):
        output = import_module("benchc.rendering.output")
        if (PACKAGE / "benchmarks" / name.partition(".")[0]).is_dir():
            name = f"benchc.benchmarks.{name}"
        made: Callable[..., Any] = output.stage_of(output.function_of(name))
        return made
    near = get_close_matches(name, found, n=1)
    hint = f"did you mean {near[0]}?" if near else "python -m scripts.stage --help lists all"
    raise InputError(f"there is no stage {name!r}; {hint}")


def usage() -> str:
    """Return what this module does, and a list of all stages with their purposes."""
    described = {name: purpose(path) for name, path in stages().items()}
    width = max(map(len, described)) + 2
    lines = [f"  {name:{width}}{text}" for name, text in described.items()]
    return "\n".join([__doc__ or "", "stages:", *lines])


if __name__ == "__main__":
    in_utf8()
    run(main)
