"""Reviews as CSV files: the empty one for a spreadsheet, and those that annotators return."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.curation.review_files import ReviewError, read_answers, written_id
from benchc.benchmarks.naturalbench.curation.review_rows import Row
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED
from benchc.csv_cells import QuotedCsv, cell_of
from benchc.printable import printable


def review_csv(rows: Sequence[Row], annotator: str) -> str:
    """Return a CSV file of the rows in their order, whose column answer is empty."""
    about_pairs = any(row.captions for row in rows)
    columns = ["image_1", "image_2", "caption_1", "caption_2"] if about_pairs else ["image", "A", "B"]
    text = io.StringIO()
    writer = csv.writer(text, QuotedCsv)
    writer.writerow(["id", "annotator", "question", *columns, "choices", "answer"])
    for row in rows:
        values = [*row.images, *row.captions] if about_pairs else [*row.images, *(row.options or ("", ""))]
        cells = [written_id(row.id), annotator, row.question, *values, " / ".join(row.choices), ""]
        writer.writerow(map(cell_of, cells))
    return text.getvalue()


def read_reviews(
    rows: Sequence[Row], annotators: Sequence[str], folder: Path, forms: Path, round_: str
) -> pl.DataFrame:
    """Return the answers of all annotators to the rows of a round, of type REVIEWED.

    Args:
        rows: of the round's form, in any order; without any, no file is needed.
        annotators: each has the file ``{annotator}.csv`` in ``folder``.
        forms: the folder that has the forms.

    Raises ReviewError, which names all that is missing or wrong.
    """
    choices = {row.id: row.choices for row in rows}
    answers = read_answers(dict.fromkeys(annotators, choices), folder, forms, round_)
    return pl.DataFrame(
        [
            (row.id, row.pair, row.type, row.q_idx, row.i_idx, annotator, found[row.id], row.expected)
            for annotator, found in answers.items()
            for row in rows
        ],
        schema=pl.Schema(REVIEWED.columns),
        orient="row",
    )


def reviews_or_stop(
    rows: Sequence[Row], annotators: Sequence[str], folder: Path, forms: Path, round_: str
) -> pl.DataFrame:
    """Return the same, or end the process with what is missing or wrong: to wait for people is no error."""
    try:
        return read_reviews(rows, annotators, folder / round_, forms / round_, round_)
    except ReviewError as error:
        raise SystemExit("\n".join(printable(line) for line in error.args)) from error
