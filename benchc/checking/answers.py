"""Check a file of answers of another program, as far as the run's items are known."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchc.checking.finding import Finding, reason
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.answers_csv import listed_answers, notes_of, whole_answers

STAGE = "answers"


def check_answers(
    name: str,
    file: str,
    corruptions: Iterable[str],
    severities: Iterable[int],
    ids: Sequence[str] | None,
    *,
    assigned: bool = False,
) -> Finding:
    """Return whether the job that imports a file of answers would accept it.

    ``ids``: of the items that are asked; None where they are not known. ``assigned``: the run asks only some
    corruptions and severities of an item, which its assignment will say.
    """
    path = Path(file)
    if not path.is_file():
        return check_file(name, file)
    try:
        if ids is not None and not assigned:
            rows = whole_answers(path, ids, corruptions, severities)
        else:
            rows = listed_answers(path, ids, corruptions, severities)
    except InputError as error:
        return Finding(STAGE, "error", name, reason(error))
    if rows.is_empty():
        return Finding(STAGE, "error", name, f"{file} has no answers; add them, or remove the entry")
    if notes := [*notes_of(rows)]:
        return Finding(STAGE, "warning", name, f"{file}: {'; '.join(notes)}")
    found = f"{pluralize(rows.height, 'answer')} in {file}"
    if assigned or ids is None:
        found += "; its job checks whether they are those that the run asks for"
    return Finding(STAGE, "ok", name, found)


def check_file(name: str, file: str) -> Finding:
    """Return whether a file is there that only its job reads."""
    if Path(file).is_file():
        return Finding(STAGE, "ok", name, f"{file} exists; its job reads it")
    return Finding(STAGE, "error", name, f"names {file}, which does not exist; write it, or remove the entry")
