"""The CSV files that annotators return: what is read, and all that is wrong with them. Fast to import."""

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchc.errors import InputError
from benchc.pluralize import pluralize

NEEDED = ("id", "annotator", "answer")
DELIMITERS = ",;\t"  # spreadsheets write the one of their language
SHOWN = 10  # faults of a file
THEN_RUN_AGAIN = "then run the same command again"
PAIRS_REVIEW = "pairs"  # beside the rounds of questions 0, 1, ...

Choices = Mapping[str, Sequence[str]]  # by the id of a row


class ReviewError(InputError):
    """Reviews are missing, incomplete or wrong. ``args`` are the lines of the message."""


class _Review(NamedTuple):
    """What a file has.

    Args:
        answers: number of the chosen answer of each row.
        faults: one line each.
        absent: rows without an answer, right or wrong.
    """

    answers: dict[str, int]
    faults: list[str]
    absent: list[str]


def written_id(id_: str) -> str:
    """Return an id of hex digits as files have it: a spreadsheet takes some, such as 12e4, for numbers."""
    return f"r{id_}"


def read_answers(
    choices: Mapping[str, Choices], folder: Path, forms: Path, round_: str
) -> dict[str, dict[str, int]]:
    """Return the number of the chosen answer of each row, by annotator.

    Args:
        choices: of the rows of each annotator's form; without any, no file is needed.
        folder: has the file ``{annotator}.csv`` of each annotator.
        forms: the folder that has the forms.
        round_: for messages.

    Raises ReviewError, whose lines name the faults of all files, and all annotators whose review is missing
    or incomplete, with the form to open and the file to save. The last line says for whom the run waits.
    """
    faults: list[str] = []
    waiting: dict[str, str] = {}
    answers: dict[str, dict[str, int]] = {}
    for annotator, rows in choices.items():
        if not rows:
            continue
        path = folder / f"{annotator}.csv"
        reason = "no file"
        if path.is_file():
            review = _read(path, rows, annotator, round_)
            answers[annotator] = review.answers
            faults += [f"error: {fault}" for fault in review.faults[:SHOWN]]
            if len(review.faults) > SHOWN:
                faults.append(f"error: {path}: {pluralize(len(review.faults) - SHOWN, 'more fault')}")
            if not review.absent:
                continue
            first = written_id(review.absent[0])
            reason = (
                f"{len(review.absent):,} of {pluralize(len(rows), 'row')} without an answer (first: {first})"
            )
        form = forms / annotator
        waiting[annotator] = (
            f"  {annotator}: {reason}; open {form}.html, or fill {form}.csv, and save it as {path}"
        )
    if waiting:
        end = (
            f"waiting for {', '.join(waiting)} to review round {round_}: open the forms in {forms}/, save "
            f"the answers in {folder}/, {THEN_RUN_AGAIN}"
        )
        raise ReviewError(*faults, *waiting.values(), end)
    if faults:
        raise ReviewError(*faults, f"correct the reviews of round {round_}, {THEN_RUN_AGAIN}")
    return answers


def choices_of_form(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the choices of the rows of a form's CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return {_id(row["id"]): tuple(row["choices"].split(" / ")) for row in csv.DictReader(file)}


def answers_digest(path: Path) -> str:
    """Return a hash of the answers of a file, which does not depend on order, form and further columns.

    Of a file with faults it is a hash of its content.
    """
    try:
        rows = sorted(tuple(values) for _, values in _records(path))
    except InputError:
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    text = "\x1e".join("\x1f".join((id_, name, answer.casefold())) for id_, name, answer in rows if answer)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def check_file(path: Path) -> None:
    """Raise InputError, with all faults, where a file is no CSV file of a review; rows are not compared."""
    for _ in _records(path):
        pass


def _read(path: Path, choices: Choices, annotator: str, round_: str) -> _Review:
    answers: dict[str, int] = {}
    faults: list[str] = []
    seen: dict[str, int] = {}
    given: set[str] = set()
    try:
        records = list(_records(path))
    except InputError as error:
        return _Review({}, [str(line) for line in error.args], [])
    for number, (id_, name, answer) in records:
        fault = None
        if id_ not in choices:
            shown = written_id(id_)[:40]
            fault = f"id {shown!r} is not in round {round_}; remove the row, or review the present form"
        elif id_ in seen:
            fault = f"id {written_id(id_)} is also in row {seen[id_]}; remove one of them"
        elif name != annotator:
            fault = f"is a review by {name[:40]!r}, not by {annotator}; give each their own file"
        elif answer:
            known = [choice.casefold() for choice in choices[id_]]
            if answer.casefold() in known:
                answers[id_] = known.index(answer.casefold())
            else:
                fault = f"the answer {answer[:40]!r} is none of {', '.join(choices[id_])}; correct it"
        seen.setdefault(id_, number)
        if fault is not None or answer:
            given.add(id_)
        if fault is not None:
            faults.append(f"{path}: row {number}: {fault}")
    return _Review(answers, faults, [id_ for id_ in choices if id_ not in given])


def _records(path: Path) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Yield the number of each row, as spreadsheets count them, and its id, annotator and answer.

    Raises InputError where the file cannot be read so, with a line for each fault.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            delimiter = max(DELIMITERS, key=first.count)
            records = list(csv.reader(file, delimiter=delimiter, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as CSV in UTF-8 ({error}); save it as such") from error
    header = [name.strip() for name in records[0]] if records else []
    faults = [
        f"{path}: has {'two columns' if name in header else 'no column'} {name!r}; keep the columns "
        f"{', '.join(NEEDED)} of the form"
        for name in NEEDED
        if header.count(name) != 1
    ]
    places = [] if faults else [header.index(name) for name in NEEDED]
    rows = [
        (number, fields)
        for number, fields in enumerate(records[1:], start=2)
        if any(field.strip() for field in fields)
    ]
    if not faults:
        faults = [
            f"{path}: row {number}: has {len(fields)} cells, the header has {len(header)}; complete it"
            for number, fields in rows
            if len(fields) < len(header)
        ]
    if faults:
        raise InputError(*faults)
    for number, fields in rows:
        id_, name, answer = (fields[place].strip() for place in places)
        yield number, (_id(id_), name, answer)


def _id(written: str) -> str:
    return written.removeprefix("r")
