"""Answers of another program: a CSV file with the columns id, corruption, severity and answer."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.schemas.answers import ANSWERS
from benchc.schemas.assignment import Assignment
from benchc.schemas.grid import grid_rows, rows_of
from benchc.schemas.predictions import CLEAN, KEY

COLUMNS = (*KEY, "answer")
_ROW = "row"


def read_answers(
    path: Path,
    ids: Sequence[str],
    corruptions: Iterable[str],
    severities: Iterable[int],
    assignment: Assignment | None = None,
) -> pl.DataFrame:
    """Return the answers as the columns id, corruption, severity, reply and finish (null) of ANSWERS.

    Rows are in the order of ``ids``, of ``clean`` and the ``corruptions``, and of the ``severities``.
    ``assignment``: the severities of each item by corruption; None: all. Raises InputError, with the row,
    unless each item has one answer, which may be empty, under each of them.
    """
    rows = _rows(path, corruptions := [*corruptions], severities := [*severities])
    _refuse(path, rows, ~pl.struct(KEY).is_first_distinct(), "has a second answer; remove one")
    _refuse(path, rows, ~pl.col("id").is_in(ids), "is no item of the run; remove the row")
    variants = [(CLEAN, 0), *((name, severity) for name in corruptions for severity in severities)]
    fill = "add a row with an empty answer where the model gave none"
    if assignment is None:
        whole = rows[grid_rows(rows, ids, variants, f"{path}: answer", mend=fill).ravel()]
    else:
        cells = [
            (id_, name, severity)
            for id_ in ids
            for name, severity in variants
            if name == CLEAN or severity in assignment[name].get(id_, ())
        ]
        wanted = pl.DataFrame(cells, schema=rows.select(KEY).schema, orient="row")
        mend = "remove a row that is not of the run's assignment (pool/assignment.parquet)"
        whole = rows_of(rows, wanted, f"{path}: answer", mend=mend, fill=fill)
    finish = pl.lit(None, dtype=ANSWERS.columns["finish"])
    return whole.select(*KEY, reply=pl.col("answer").fill_null(""), finish=finish)


def _rows(path: Path, corruptions: Sequence[str], severities: Sequence[int]) -> pl.DataFrame:
    """Return the rows with their numbers; corruptions and severities are those of the run."""
    try:
        _require_whole_rows(path)
        texts = pl.read_csv(path, infer_schema=False, glob=False, encoding="utf8")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; give a CSV file with {', '.join(COLUMNS)}") from error
    except (pl.exceptions.PolarsError, csv.Error, UnicodeDecodeError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read as CSV ({reason}); correct the file") from error
    if doubled := [name for name in COLUMNS if f"{name}_duplicated_0" in texts.columns]:
        raise InputError(f"{path}: has two columns {doubled[0]!r}; remove one")
    if missing := [name for name in COLUMNS if name not in texts.columns]:
        raise InputError(
            f"{path}: has no column {missing[0]!r} (it has {', '.join(texts.columns)}); it needs "
            f"{', '.join(COLUMNS)}, separated by commas"
        )
    # The first line is the header.
    rows = texts.select(pl.int_range(2, pl.len() + 2).alias(_ROW), pl.col(COLUMNS).str.strip_chars())
    numbers = rows.with_columns(pl.col("severity").cast(pl.Int64, strict=False))
    is_clean = pl.col("corruption") == CLEAN
    names = ", ".join([CLEAN, *corruptions])
    _refuse(path, numbers, ~(is_clean | pl.col("corruption").is_in(corruptions)), f"is under none of {names}")
    at = (is_clean & (pl.col("severity") == 0)) | (~is_clean & pl.col("severity").is_in(severities))
    listed = ", ".join(map(str, severities))
    _refuse(path, numbers, ~at, f"has a severity other than {listed}, and 0 for {CLEAN}; correct it")
    return numbers


def _require_whole_rows(path: Path) -> None:
    """Raise InputError for a row of fewer cells than the header: polars takes the absent ones for empty."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        for number, row in enumerate(rows, start=2):
            if row and len(row) < len(header):
                raise InputError(
                    f"{path}: row {number}: has {len(row)} cells, the header has {len(header)}; end the row "
                    "of an empty answer with a comma"
                )


def _refuse(path: Path, rows: pl.DataFrame, wrong: pl.Expr, reason: str) -> None:
    # A null is of an empty cell.
    found = rows.filter(wrong.fill_null(value=True))
    if found.height:
        number, id_ = found.row(0)[:2]
        raise InputError(f"{path}: row {number}: item {id_ or ''!r} {reason}")
