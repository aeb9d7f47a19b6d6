"""The console command `benchc`, whose sub-commands are what users run outside the pipeline."""

import ast
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from scripts.command import run

SCRIPTS = Path(__file__).parent

# Each is a module scripts.<name> (_ for -) with main(argv, prog). Only the one called is imported, for speed.
SHARED = {
    "cache": "list cached predictions, delete some, or keep them after a refactoring",
    "check": "check a run before it starts: sources, models, encoders, time and disk",
    "compare": "compare two finished runs and name the inputs that differ",
    "models": "list, show, pin, fetch and check the models of the catalogues",
    "new": "write a small configuration for your own data and models",
    "plan": "estimate the cost of a run: predictions by stage and model, and hours where measured",
    "run": "run the pipeline like snakemake, with one line per stage instead of several per job",
    "versions": "list the files of a run that other versions of libraries made",
    "what-reruns": "list the jobs that a run would start, why, and at most how many new predictions",
}


def main(argv: Sequence[str] | None = None) -> None:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None and is_other_checkout(Path.cwd()):
        # `python -m` takes the code of the folder, as Snakemake's jobs do.
        os.execv(sys.executable, [sys.executable, "-m", "scripts.benchc", *arguments])
    if not arguments or arguments[0] in ("-h", "--help"):
        run(lambda: print(usage()))
        return
    name, *rest = arguments
    found = commands()
    if name not in found:
        print(f"error: there is no command {name!r}; there are {', '.join(found)}", file=sys.stderr)
        raise SystemExit(2)
    run(partial(import_module(found[name].module).main, rest, f"benchc {name}"))


class Command(NamedTuple):
    """A command: the module with its ``main(argv, prog)``, and what it does."""

    module: str
    purpose: str


def commands() -> dict[str, Command]:
    """Return all commands by name: the shared ones, and those that a benchmark has in ``commands/``.

    What a benchmark's command does is the first line of its module, which is not imported.
    """
    found = {name: Command(f"scripts.{name.replace('-', '_')}", text) for name, text in SHARED.items()}
    for path in SCRIPTS.glob("*/commands/[a-z]*.py"):
        purpose = (ast.get_docstring(ast.parse(path.read_bytes())) or "").partition("\n")[0].rstrip(".")
        module = ".".join(path.relative_to(SCRIPTS.parent).with_suffix("").parts)
        name = path.stem.replace("_", "-")
        found[name] = Command(module, purpose[:1].lower() + purpose[1:])
    return dict(sorted(found.items()))


def is_other_checkout(folder: Path) -> bool:
    """Return whether a folder is a checkout of the project, but not the one that this module is from."""
    module = folder / "scripts/benchc.py"
    return (folder / "Snakefile").is_file() and module.is_file() and not module.samefile(__file__)


def usage() -> str:
    """Return the list of commands."""
    found = commands()
    width = max(map(len, found)) + 2
    lines = "\n".join(f"  {name:{width}}{command.purpose}" for name, command in found.items())
    return f"usage: benchc COMMAND ...\n\ncommands:\n{lines}\n\n`benchc COMMAND --help` shows its options."


if __name__ == "__main__":
    main()
