"""Provoke wrong inputs by a command, and see what it says and leaves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.refusals.case import Case, Table, pattern
from tests.refusals.workspace import Workspace

# Of the results, these say when and how fast files were made, and that calls failed.
RECORDS = {".cache", ".provenance", "run.json", "run.js"}


@dataclass(frozen=True)
class Provoked:
    """What a command did. ``changed``: finished files that it changed or lost."""

    status: int
    text: str
    changed: Sequence[str]


Provoke = Callable[[Table, Case], Provoked]


def assert_refused(found: Provoked, table: Table, case: Case) -> None:
    """Assert that a command named the fault of a case in a line, and lost nothing that was finished."""
    lines = lines_of(found.text)
    assert found.status != 0, found.text
    assert "Traceback" not in found.text, found.text
    assert lines[-1].startswith("error: "), found.text
    assert sum(lines[-1].removeprefix("error: ") in line for line in lines) == 1, found.text
    # A check lists all that it finds.
    is_list = table.together or (case.command or table.command).startswith("benchc check")
    assert any(map(pattern(case.says).fullmatch, lines if is_list else lines[-1:])), found.text
    assert not found.changed


def provoked(workspace: Workspace, table: Table, cases: Sequence[Case]) -> Provoked:
    """Call the command of cases with all their changes, and put the copy back as it was."""
    try:
        for case in cases:
            for change in case.changes:
                change(workspace)
        before = workspace.state("results")
        command = cases[0].command or table.command
        if table.together:
            command = " ".join([table.command, *(case.command for case in cases)])
        status, text = workspace.run(command, cases[0].environment)
        after = workspace.state("results")
        # The time of change is of links and names, too.
        changed = [
            path for path, state in before.items() if state and (after.get(path) or ())[:2] != state[:2]
        ]
        return Provoked(status, text, [path for path in changed if not RECORDS & set(path.split("/"))])
    finally:
        workspace.put_back()


def lines_of(text: str) -> list[str]:
    """Return the lines of an output that are not empty, with one space for all white space."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
