"""Reviews as CSV files: the empty one for a spreadsheet, and those that annotators return."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.curation.review_rows import Row
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED
from benchc.errors import InputError
from benchc.pluralize import pluralize

NEEDED = ("id", "annotator", "answer")
SHOWN = 3  # ids in a message


def review_csv(rows: Sequence[Row], annotator: str) -> str:
    """Return a CSV file of the rows in their order, whose column answer is empty."""
    about_pairs = any(row.captions for row in rows)
    columns = ["image_0", "image_1", "caption_0", "caption_1"] if about_pairs else ["image", "A", "B"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "annotator", "question", *columns, "choices", "answer"])
    for row in rows:
        values = [*row.images, *row.captions] if about_pairs else [*row.images, *(row.options or ("", ""))]
        writer.writerow([row.id, annotator, row.question, *values, " / ".join(row.choices), ""])
    return text.getvalue()


def read_reviews(
    rows: Sequence[Row], annotators: Sequence[str], folder: Path, forms: Path, round_: str
) -> pl.DataFrame:
    """Return the answers of all annotators to the rows of a round, of type REVIEWED.

    Args:
        rows: of the round's form, in any order; without any, no file is needed.
        annotators: each has the file ``{annotator}.csv`` in ``folder``.
        forms: the folder that has the forms.

    Raises InputError, with a line for each annotator whose file is missing, incomplete or wrong.
    """
    problems: list[str] = []
    answers: dict[str, Mapping[str, int]] = {}
    for annotator in annotators if rows else ():
        path = folder / f"{annotator}.csv"
        try:
            answers[annotator] = _answers(path, rows, annotator, forms, round_)
        except InputError as error:
            problems += map(str, error.args)
    if problems:
        raise InputError(*problems)
    return pl.DataFrame(
        [
            (row.id, row.pair, row.type, row.q_idx, row.i_idx, annotator, found[row.id], row.expected)
            for annotator, found in answers.items()
            for row in rows
        ],
        schema=pl.Schema(REVIEWED.columns),
        orient="row",
    )


def _answers(path: Path, rows: Sequence[Row], annotator: str, forms: Path, round_: str) -> dict[str, int]:
    form = f"open {forms / annotator}.html, or fill {forms / annotator}.csv, and save it as {path}"
    known = {row.id: row for row in rows}
    found: dict[str, int] = {}
    if not path.is_file():
        raise InputError(f"{path}: no such file; {_missing(known, found, round_)}; {form}")
    seen: dict[str, int] = {}
    for number, values in _records(path):
        at = f"{path}: row {number}"
        id_, name, answer = (values[column].strip() for column in NEEDED)
        if id_ not in known:
            raise InputError(
                f"{at}: id {id_[:40]!r} is not in round {round_}; remove the row, or, if the questions have "
                f"changed since, {form}"
            )
        if id_ in seen:
            raise InputError(f"{at}: id {id_} is also in row {seen[id_]}; remove one of them")
        if name != annotator:
            raise InputError(
                f"{at}: is a review by {name[:40]!r}, not by {annotator}; give each their own file"
            )
        seen[id_] = number
        if not answer:
            continue
        choices = known[id_].choices
        chosen = [place for place, choice in enumerate(choices) if choice.casefold() == answer.casefold()]
        if not chosen:
            raise InputError(f"{at}: the answer {answer[:40]!r} is none of {', '.join(choices)}; correct it")
        found[id_] = chosen[0]
    if len(found) < len(known):
        raise InputError(f"{path}: {_missing(known, found, round_)}; {form}")
    return found


def _missing(known: Mapping[str, Row], found: Mapping[str, int], round_: str) -> str:
    absent = [id_ for id_ in known if id_ not in found]
    first = ", ".join(absent[:SHOWN])
    return f"without an answer: {pluralize(len(absent), 'row')} of round {round_} (first: {first})"


def _records(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file with their numbers, as spreadsheets count them."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            records = list(csv.reader(file, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as CSV in UTF-8 ({error}); save it as such") from error
    header = [name.strip() for name in records[0]] if records else []
    for name in NEEDED:
        if header.count(name) != 1:
            problem = "has two columns" if name in header else "has no column"
            raise InputError(
                f"{path}: {problem} {name!r}; keep the columns {', '.join(NEEDED)} of the form, separated by "
                "commas"
            )
    rows = []
    for number, fields in enumerate(records[1:], start=2):
        if not any(field.strip() for field in fields):
            continue
        if len(fields) < len(header):
            raise InputError(
                f"{path}: row {number}: has {len(fields)} cells, the header has {len(header)}; complete it"
            )
        rows.append((number, dict(zip(header, fields, strict=False))))
    return rows
