"""The console command `benchc`, whose sub-commands are what users run outside the pipeline."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cyclopts import App

from benchc.errors import InputError
from benchc.home import NEEDS_PIPELINE, has_pipeline
from scripts.command import command_line, in_utf8, parse, purpose, run

SCRIPTS = Path(__file__).parent
# They look for models where the jobs of a cluster do.
WITH_SITE = (["check"], ["models"])


def main(argv: Sequence[str] | None = None) -> None:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        in_utf8()
        if is_other_checkout(Path.cwd()):
            # `python -m` takes the code of the folder, as Snakemake's jobs do.
            os.execv(sys.executable, [sys.executable, "-m", "scripts.benchc", *arguments])
    run(lambda: call(arguments))


def call(arguments: Sequence[str]) -> None:
    """Run a command. Raises InputError where it needs packages that a light installation has not."""
    if arguments[:1] in WITH_SITE:
        os.environ.update(site_environment())
    try:
        parse(app_with(arguments[:1]), arguments)
    except ImportError as error:
        if has_pipeline():
            raise
        raise InputError(NEEDS_PIPELINE) from error


def site_environment() -> Mapping[str, str]:
    """Return the variables of slurm/site.yaml; none where it is not there, or invalid, as a run will say."""
    if not has_pipeline():
        return {}
    # Imported here, since other commands start faster without.
    from benchc.cluster.site import read_site, site_file

    try:
        return read_site(site_file()).environment
    except InputError:
        return {}


def app_with(called: Sequence[str]) -> App:
    """Return the app, which imports only the command that is ``called``, for speed."""
    app = command_line("benchc", help="`benchc COMMAND --help` shows what a command does, and its options.")
    for name, path in commands().items():
        module = ".".join(path.relative_to(SCRIPTS.parent).with_suffix("").parts)
        function, file = ("app", path / "__init__.py") if path.is_dir() else (path.stem, path)
        # It would replace the description of the command that is called.
        text = None if name in called else purpose(file)
        # Snakemake's own end of a list of values, such as that of --forcerun, before targets.
        kept = {"end_of_options_delimiter": ""} if name == "run" else {}
        app.command(f"{module}:{function}", name=name, help=text, **kept)
    app.register_install_completion_command(help="install the shell's completion of commands and options")
    return app


def commands() -> dict[str, Path]:
    """Return all commands by name: the modules of ``commands/`` here and of the benchmarks.

    A module has the function of its name, a folder an ``app`` of further commands.
    """
    found = [
        path for path in SCRIPTS.glob("**/commands/[a-z]*.py") if f"\ndef {path.stem}(" in path.read_text()
    ]
    found += [path.parent for path in SCRIPTS.glob("**/commands/[a-z]*/__init__.py")]
    return {path.stem.replace("_", "-"): path for path in sorted(found, key=lambda path: path.stem)}


def is_other_checkout(folder: Path) -> bool:
    """Return whether a folder is a checkout of the project, but not the one that this module is from."""
    module = folder / "scripts/benchc.py"
    return (folder / "Snakefile").is_file() and module.is_file() and not module.samefile(__file__)


if __name__ == "__main__":
    main()
