"""The pipeline's home: the folder with Snakefile, rules, scripts, envs and shipped configurations.

In a checkout it is the repository's root; in an installed package it is ``benchc/pipeline``, where setup.py
puts these files. Code and environments are of the home. All other paths, such as results, logs and the
user's configurations, are relative to the working directory.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

from benchc.errors import InputError

PACKAGE = Path(__file__).resolve().parent
INSTALLED = PACKAGE / "pipeline"
HOME = INSTALLED if INSTALLED.is_dir() else PACKAGE.parent
SNAKEFILE = HOME / "Snakefile"
NEEDS_PIPELINE = "this command needs the pipeline; pip install 'benchc[pipeline]'"


def shipped(path: str | Path, root: Path) -> Path:
    """Return the file of a path relative to ``root``, or the shipped file of this path where there is none.

    benchc ships config/ and what is in its package.
    """
    folder = {"config": HOME, PACKAGE.name: PACKAGE.parent}.get("".join(Path(path).parts[:1]))
    if folder is None or (root / path).exists() or not (folder / path).exists():
        return root / path
    return folder / path


def has_pipeline() -> bool:
    """Return whether the packages of ``benchc[pipeline]`` are installed."""
    return find_spec("snakemake") is not None


def find_code_elsewhere(folder: Path) -> str:
    """Let the processes that this one starts find the home's modules, whatever their working directory.

    ``folder``: the working directory, in which Python looks first. Returns the command by which a shell does
    the same; an empty text where Python finds them without. Raises InputError where the folder has a package
    that would hide the home's.
    """
    if folder == HOME:
        return ""
    for name in ("scripts", "benchc"):
        hiding = next(
            (path for path in (folder / name / "__init__.py", folder / f"{name}.py") if path.is_file()), None
        )
        if hiding is not None:
            raise InputError(
                f"{hiding}: would be imported in place of benchc's own {name}; rename it, or run in another "
                "folder"
            )
    _put_first("PYTHONPATH", HOME)
    if HOME == INSTALLED:
        # Jobs run the `python` on the path, which need not be that of this environment.
        _put_first("PATH", Path(sys.executable).parent)
    return f"export PYTHONPATH={quote(os.environ['PYTHONPATH'])}"


def _put_first(variable: str, folder: Path) -> None:
    others = [path for path in os.environ.get(variable, "").split(os.pathsep) if path and path != str(folder)]
    os.environ[variable] = os.pathsep.join([str(folder), *others])
