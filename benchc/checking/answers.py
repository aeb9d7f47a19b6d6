"""Check a file of answers of another program, as far as the run's items are known."""

from collections.abc import Iterable
from pathlib import Path

from benchc.checking.finding import Finding, reason
from benchc.checking.pool import PoolFound
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.answers_csv import listed_answers, notes_of, whole_answers

STAGE = "answers"


def check_answers(
    name: str,
    file: str,
    corruptions: Iterable[str],
    severities: Iterable[int],
    pool: PoolFound | None,
    *,
    whole: bool = False,
) -> Finding:
    """Return whether the job that imports a file of answers would accept it.

    ``pool``: None where other items than its own are asked. ``whole``: the file needs an answer for each of
    the pool's items, corruptions and severities.
    """
    ids = list(pool.texts["id"]) if pool is not None and pool.size is not None else None
    path = Path(file)
    if not path.is_file():
        return check_file(name, file)
    try:
        if whole and ids is not None:
            rows = whole_answers(path, ids, corruptions, severities)
        else:
            rows = listed_answers(path, ids, corruptions, severities)
    except InputError as error:
        return Finding(STAGE, "error", name, reason(error))
    if notes := [*notes_of(rows)]:
        return Finding(STAGE, "warning", name, f"{file}: {'; '.join(notes)}")
    return Finding(STAGE, "ok", name, f"{pluralize(rows.height, 'answer')} in {file}")


def check_file(name: str, file: str) -> Finding:
    """Return whether a file is there that only its job reads."""
    if Path(file).is_file():
        return Finding(STAGE, "ok", name, f"{file} exists; its job reads it")
    return Finding(STAGE, "error", name, f"names {file}, which does not exist; write it, or remove the entry")
