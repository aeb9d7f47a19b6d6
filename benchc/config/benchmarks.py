"""The benchmarks in this checkout. Shared code imports them by name, so that it depends on none of them."""

from importlib import import_module
from pathlib import Path
from typing import Any

from benchc import benchmarks
from benchc.config.errors import shown
from benchc.errors import InputError
from benchc.suggestion import suggestion


def _folders() -> dict[str, Path]:
    found = (path.parent for folder in benchmarks.__path__ for path in Path(folder).glob("*/settings.py"))
    return {path.name.replace("_", "-"): path for path in sorted(found)}


def known_benchmarks() -> list[str]:
    """Return the sorted names of the benchmarks: the folders with a settings.py, with dashes."""
    return list(_folders())


def benchmarks_with(part: str) -> list[str]:
    """Return the sorted names of the benchmarks that have the module ``part``, such as `new`."""
    return [name for name, folder in _folders().items() if (folder / f"{part}.py").is_file()]


def package_of(benchmark: str) -> str:
    """Return the name of a benchmark's folder, rules and scripts: with underscores."""
    return benchmark.replace("-", "_")


def module_of(benchmark: str, part: str) -> Any:
    """Return the module ``part`` of a benchmark, such as `settings`.

    Raises InputError where the benchmark or its module does not exist.
    """
    folders = _folders()
    if benchmark not in folders:
        raise InputError(f"there is no benchmark {shown(benchmark)}{suggestion(benchmark, list(folders))}")
    file = f"{part.replace('.', '/')}.py"
    if not (folders[benchmark] / file).is_file():
        known = benchmarks_with(file.removesuffix(".py"))
        others = f", unlike {', '.join(known)}" if known else f": it has no {file}"
        raise InputError(f"the benchmark {benchmark} does not support this command{others}")
    return import_module(f"benchc.benchmarks.{package_of(benchmark)}.{part}")
