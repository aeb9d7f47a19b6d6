"""Digests of the code that a job runs, as params of its rule: an edit of what it does reruns the job."""

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchc.closure import code_digests, content_sample, files_run_by_import, imported_modules, source_closure
from benchc.home import HOME, PACKAGE

# Snakemake passes the wildcards of a job, whose attributes have their names.
Wildcards = Any
# Of a rule: a value, or a function of the wildcards. Snakemake records no param of anything else.
Param = str | Callable[[Wildcards], Any]


class By(NamedTuple):
    """Values that depend on a wildcard: each job has the one of its key.

    ``key``: the name of the wildcard, or a function of all wildcards. All values are known when the rules are
    read, so that the rule has one param for each setting that any of its jobs has.
    """

    key: str | Callable[[Wildcards], object]
    values: Mapping[Any, Any]

    def of(self, wildcards: Wildcards) -> Any:
        """Return the value of a job."""
        return self.values[getattr(wildcards, self.key) if isinstance(self.key, str) else self.key(wildcards)]


def code_of(*files: str) -> list[str]:
    """Return ``file digest`` of each file and each first-party file that it imports.

    Each is a param of its own, so that a dry run names the files that changed. Comments, docstrings and
    formatting do not change a digest. The same in a checkout and an installed package.
    """
    if PACKAGE.parent == HOME:
        return code_digests(files, HOME)
    scripts = [file for file in files if not _of_package(file)]
    scripts = [file for file in source_closure(scripts, HOME) if not _of_package(file)]
    imported = {
        found
        for script in scripts
        for module in imported_modules(ast.parse((HOME / script).read_bytes()), Path(script).parts[:-1])
        if module[:1] == (PACKAGE.name,)
        for found in files_run_by_import(module, PACKAGE.parent)
    }
    imported.update(filter(_of_package, files))
    of_scripts = [line for line in code_digests(scripts, HOME) if not _of_package(line)]
    return sorted([*of_scripts, *code_digests(imported, PACKAGE.parent)])


def _of_package(file: str) -> bool:
    return file.startswith(f"{PACKAGE.name}/")


def code_params(digests: Iterable[str], by: Sequence[By]) -> dict[str, Param]:
    """Return digests as params: those of all jobs, and those that depend on wildcards in functions.

    ``by``: digests of each job. A rule has at least one empty param, so that a longer list of another job
    does not add one, which would rerun this job.
    """
    common = set(digests)
    slots: list[Param] = []
    for each in by:
        every = [set(found) - common for found in each.values.values()]
        common |= set.intersection(*every) if every else set()
        most = max((len(found - common) for found in every), default=0)
        slots += [_slot(each, frozenset(common), number) for number in range(1 + most)]
    return {f"code_{number}": param for number, param in enumerate([*sorted(common), *slots])}


def _slot(by: By, common: Collection[str], number: int) -> Callable[[Wildcards], str]:
    def digest(wildcards: Wildcards) -> str:
        own = [line for line in by.of(wildcards) if line not in common]
        return own[number] if number < len(own) else ""

    return digest


def contents_of(files: Iterable[str | Path]) -> list[str]:
    """Return the contents of a user's files, a param: Snakemake misses a change if the new file is older.

    A file of more than 1 MB is read at 16 places only.
    """
    return [f"{file} {content_sample(file)}" for file in files if Path(file).is_file()]
