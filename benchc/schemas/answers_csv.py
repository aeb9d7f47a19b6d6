"""Answers of another program: a CSV file with the columns id, corruption, severity and answer."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from benchc.csv_rows import read_rows
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.answers import ANSWERS
from benchc.schemas.assignment import Assignment
from benchc.schemas.grid import grid_rows, rows_of
from benchc.schemas.predictions import CLEAN, KEY
from benchc.user_table import whole_number

COLUMNS = (*KEY, "answer")
FEWEST = 20  # items; a model that sees the images, or guesses, has other answers to some of so many
MISSING = ("nan", "<na>", "null")  # how other programs write a missing value, in lower case
_ROW = "row"


def read_answers(
    path: Path,
    ids: Sequence[str],
    corruptions: Iterable[str],
    severities: Iterable[int],
    assignment: Assignment | None = None,
) -> pl.DataFrame:
    """Return the answers as the columns id, corruption, severity, reply and finish (null) of ANSWERS.

    Raises InputError as :func:`whole_answers`. Warns of what :func:`notes_of` says.
    """
    whole = whole_answers(path, ids, corruptions, severities, assignment)
    for note in notes_of(whole):
        print(f"warning: {path}: {note}", file=sys.stderr)
    finish = pl.lit(None, dtype=ANSWERS.columns["finish"])
    return whole.select(*KEY, reply="answer", finish=finish)


def whole_answers(
    path: Path,
    ids: Sequence[str],
    corruptions: Iterable[str],
    severities: Iterable[int],
    assignment: Assignment | None = None,
) -> pl.DataFrame:
    """Return the rows of :func:`listed_answers` in the order of the items, corruptions and severities.

    ``clean`` is the first of the corruptions. ``assignment``: the severities of each item by corruption;
    None: all. Raises InputError, with the row, unless each item has one answer, which may be empty, under
    each of them.
    """
    rows = listed_answers(path, ids, corruptions := [*corruptions], severities := [*severities])
    variants = [(CLEAN, 0), *((name, severity) for name in corruptions for severity in severities)]
    fill = "add a row with an empty answer where the model gave none"
    if assignment is None:
        return rows[grid_rows(rows, ids, variants, f"{path}: answer", mend=fill).ravel()]
    cells = [
        (id_, name, severity)
        for id_ in ids
        for name, severity in variants
        if name == CLEAN or severity in assignment[name].get(id_, ())
    ]
    wanted = pl.DataFrame(cells, schema=rows.select(KEY).schema, orient="row")
    mend = "remove a row that is not of the run's assignment (pool/assignment.parquet)"
    return rows_of(rows, wanted, f"{path}: answer", mend=mend, fill=fill)


def notes_of(rows: pl.DataFrame) -> Iterator[str]:
    """Yield what is probably wrong with rows that can be read: one answer to all items, missing values."""
    answers = rows["answer"].str.to_lowercase()
    if rows["id"].n_unique() >= FEWEST and answers.n_unique() == 1:
        yield (
            f"all {rows.height:,} answers are {rows['answer'][0][:80]!r}; check the file, and how the model "
            "was asked"
        )
    if (missing := rows.filter(answers.is_in(MISSING))).height:
        yield (
            f"{missing['answer'][0]!r}, as programs write a missing value, is graded as an answer in "
            f"{pluralize(missing.height, 'row')}; leave the answer empty where the model gave none"
        )


def listed_answers(
    path: Path, ids: Sequence[str] | None, corruptions: Iterable[str], severities: Iterable[int]
) -> pl.DataFrame:
    """Return the rows of a file as the columns row (its number), id, corruption, severity and answer.

    ``ids``: of the run's items; None: not known. Raises InputError, with the row, where one is repeated, or
    of another item, corruption or severity.
    """
    rows = _rows(path, [*corruptions], [*severities])
    _refuse(path, rows, ~pl.struct(KEY).is_first_distinct(), "has a second answer; remove one")
    if ids is not None:
        other = f"is no item of the run, such as {ids[0]!r}; correct it, or remove the row"
        _refuse(path, rows, ~pl.col("id").is_in(ids), other)
    return rows


def _rows(path: Path, corruptions: Sequence[str], severities: Sequence[int]) -> pl.DataFrame:
    """Return the rows with their numbers; corruptions and severities are those of the run."""
    found = ((number, *row.values()) for number, row in read_rows(path, COLUMNS, ("utf-8-sig",)))
    rows = pl.DataFrame(found, {_ROW: pl.Int64, **dict.fromkeys(COLUMNS, pl.String)}, orient="row")
    whole = whole_number("severity")
    numbers = rows.with_columns(whole)
    is_clean = pl.col("corruption") == CLEAN
    names = ", ".join([CLEAN, *corruptions])
    is_known = is_clean | pl.col("corruption").is_in(corruptions)
    reason = f"is under {{}}, which is none of {names}; correct it, or remove the row"
    _refuse(path, rows, ~is_known, reason, "corruption")
    at = (is_clean & (whole == 0)) | (~is_clean & whole.is_in(severities))
    listed = ", ".join(map(str, severities))
    reason = f"has the severity {{}}; it should be 0 for {CLEAN}, and one of {listed} for others"
    _refuse(path, rows, ~at, reason, "severity")
    return numbers


def _refuse(path: Path, rows: pl.DataFrame, wrong: pl.Expr, reason: str, column: str = "id") -> None:
    """Raise InputError with the first such row. ``column``: whose value is put at {} in the reason."""
    # A null is of a severity that is no number.
    found = rows.filter(wrong.fill_null(value=True))
    if found.height:
        row = found.row(0, named=True)
        problem = reason.replace("{}", repr(row[column]))
        raise InputError(f"{path}: row {row[_ROW]}: item {row['id']!r} {problem}")
