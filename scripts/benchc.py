"""The console command `benchc`: one sub-command for each thing that users do outside the pipeline."""

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from scripts.command import run

# Each is the module scripts.<name> with main(argv, prog); only the one that is called is imported.
COMMANDS = {
    "compare": "compare two finished runs and name the inputs that differ",
    "plan": "price a run before it is made: predictions by stage and model, and hours where they are measured",
}


def main(argv: Sequence[str] | None = None) -> None:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return
    name, *rest = arguments
    if name not in COMMANDS:
        print(f"{usage()}\n\nbenchc: there is no command {name!r}", file=sys.stderr)
        raise SystemExit(2)
    run(partial(import_module(f"scripts.{name}").main, rest, f"benchc {name}"))


def usage() -> str:
    """Return the list of commands."""
    commands = "\n".join(f"  {name:10}{what}" for name, what in COMMANDS.items())
    return f"usage: benchc COMMAND ...\n\ncommands:\n{commands}\n\n`benchc COMMAND --help` says more."


if __name__ == "__main__":
    main()
