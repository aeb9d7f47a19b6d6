"""A row of the table of wrong inputs: what is changed in a finished run, a command, and what it says."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from tests.refusals.workspace import Workspace

Change = Callable[[Workspace], object]
ABSENT = object()


@dataclass(frozen=True)
class Case:
    """A wrong input.

    ``kind``: what is wrong, as docs/errors.md says it. ``changes``: what makes it wrong. ``says``: the line
    that names it, without `error:`; ``*`` stands for any text. ``command``: `benchc` or `snakemake` with
    arguments, of which CONFIG is the run's configuration; default: that of the table. ``environment``:
    variables of the command.
    """

    kind: str
    says: str
    changes: Sequence[Change] = ()
    command: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Wrong inputs of one class.

    ``run``: the fixture of the finished run; ``command``: of cases without one of their own. ``together``:
    the command is called once, with the changes of all cases, and names each on a line of its own.
    """

    title: str
    run: str
    command: str
    cases: Sequence[Case]
    together: bool = False


def case(kind: str, says: str, *changes: Change, command: str = "", **environment: str) -> Case:
    return Case(kind, says, changes, command, environment)


def pattern(says: str) -> re.Pattern[str]:
    """Return the expression of a line of output, whose white space is one space."""
    return re.compile("error:? " + ".*".join(map(re.escape, says.split("*"))))


def key(path: str, value: object, file: str = "") -> Change:
    """Return the change of a key, such as `pool.per_task`, in a YAML file (default: the configuration).

    ``value``: ABSENT removes the key.
    """

    def change(workspace: Workspace) -> None:
        target = workspace.folder / (file or workspace.config)
        content = yaml.safe_load(target.read_text())
        block: Any = content
        *outer, last = path.split("/") if "/" in path else path.split(".")
        for name in outer:
            block = block[int(name)] if isinstance(block, list) else block.setdefault(name, {})
        if value is ABSENT:
            del block[last]
        elif isinstance(block, list):
            block[int(last)] = value
        else:
            block[last] = value
        target.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True))

    return change


def source(path: str, value: object) -> Change:
    return key(path, value, "config/small-sources.yaml")


def model(path: str, value: object) -> Change:
    return key(path, value, "config/small-models.yaml")


def write(file: str, content: str | bytes) -> Change:
    """Return the change that writes a file, in place of one that is there."""

    def change(workspace: Workspace) -> None:
        path = workspace.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return change


def edit(file: str, old: str, new: str) -> Change:
    """Return the change of the first ``old`` in a text file."""

    def change(workspace: Workspace) -> None:
        path = workspace.folder / (file or workspace.config)
        text = path.read_text()
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, 1))

    return change


def remove(*files: str) -> Change:
    return lambda workspace: [workspace.remove(file) for file in files]


def folder(file: str) -> Change:
    """Return the change that puts a folder in place of a file."""

    def change(workspace: Workspace) -> None:
        workspace.remove(file)
        (workspace.folder / file).mkdir(parents=True)

    return change


def is_file(path: str) -> Change:
    """Return the change that puts a file in place of a folder."""

    def change(workspace: Workspace) -> None:
        workspace.remove(path)
        (workspace.folder / path).write_text("")

    return change


def altered(file: str, alter: Callable[[bytes], bytes]) -> Change:
    """Return the change of a file's bytes that leaves its time, by which Snakemake finds edits."""

    def change(workspace: Workspace) -> None:
        path = workspace.folder / file
        with workspace.same_time(path):
            path.write_bytes(alter(path.read_bytes()))

    return change


def cut(file: str) -> Change:
    return altered(file, lambda data: data[: len(data) // 2])


def flipped(file: str) -> Change:
    """Return the change of one bit of a table's values, which begin its file."""

    def flip(data: bytes) -> bytes:
        place = len(data) // 4
        return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

    return altered(file, flip)


def copied(file: str, other: str) -> Change:
    """Return the change that gives a file the content of another one."""
    return lambda workspace: altered(file, lambda _: (workspace.folder / other).read_bytes())(workspace)


def all_cases(tables: Iterable[Table]) -> list[object]:
    """Return the parameters of a test of all cases."""
    return [
        pytest.param(table, case, id=f"{table.title}: {case.kind}")
        for table in tables
        for case in table.cases
    ]
