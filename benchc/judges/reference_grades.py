"""Grade free answers by reference answers."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchc.errors import InputError
from benchc.judges.short_answer import agrees, soft_accuracy
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.answers import ANSWERS, JudgedFooter
from benchc.schemas.grades import GRADES
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.predictions import KEY
from benchc.schemas.predictions_of_model import check_answers
from benchc.schemas.references import REFERENCES


class Reference(NamedTuple):
    """The reference answers of an item."""

    truth: str
    answers: Sequence[str]  # of several annotators, or none


def read_references(path: Path, pool: Path) -> dict[str, Reference]:
    """Return the reference answers of the items of a pool, by id.

    Raises InputError where they are those of another pool.
    """
    if read_footer(path).get("pool") != pool_digest(pool, QUESTION_COLUMNS):
        raise InputError(f"{path}: is not of the items of {pool}; delete it and run snakemake again")
    rows = read_table(path, REFERENCES).iter_rows(named=True)
    return {row["id"]: Reference(row["truth"], row["answers"]) for row in rows}


def graded(answers: pl.DataFrame, references: dict[str, Reference]) -> pl.DataFrame:
    """Return answers as rows of GRADES.

    ``answers``: the columns id, corruption, severity, reply and finish. An empty reply is wrong.
    """
    # Most answers of a model are equal under most corruptions.
    distinct = answers.select("id", "reply").unique()
    found = pl.DataFrame(
        [(id_, reply, *_grades(reply, references[id_])) for id_, reply in distinct.iter_rows()],
        schema={
            "id": pl.String,
            "reply": pl.String,
            **{name: GRADES.columns[name] for name in ("exact", "normalised", "soft")},
        },
        orient="row",
    )
    whole = answers.join(found, on=["id", "reply"], how="left", maintain_order="left")
    return whole.with_columns(empty=pl.col("reply") == "").select(
        pl.col(name).cast(dtype) for name, dtype in GRADES.columns.items()
    )


def answers_of_one_model(paths: Sequence[Path]) -> pl.DataFrame:
    """Return the columns of ANSWERS that grades need, of all files.

    Raises InputError where they are of several models, as :func:`check_answers`, or have two answers to one
    question.
    """
    labels = {str(read_footer(path).get("label", path.parent.name)) for path in paths}
    if len(labels) > 1:
        raise InputError(f"--answers: files of {' and '.join(sorted(labels))}; give those of one model")
    check_answers(paths)
    files = track(paths, label="answers", unit="files")
    table = pl.concat(read_table(path, ANSWERS, [*KEY, "reply", "finish"]) for path in files)
    if (doubled := table.filter(~pl.struct(KEY).is_first_distinct())).height:
        id_, corruption, severity = doubled.select(KEY).row(0)
        raise InputError(
            f"--answers: two answers to {id_} under {corruption} at severity {severity}; give one"
        )
    return table


def write_grades(table: pl.DataFrame, output: Path, label: str, facts: Mapping[str, Any]) -> None:
    """Write rows of GRADES, and print how many are right; ``facts``: of the answers, for the footer."""
    right, empty = int(table["normalised"].sum()), int(table["empty"].sum())
    print(f"{label}: {pluralize(table.height, 'answer')}, {right:,} right, {empty:,} empty", file=sys.stderr)
    write_table(table, output, GRADES, JudgedFooter(label=label, answers=table.height, **facts))


def _grades(reply: str, reference: Reference) -> Iterator[object]:
    # Replies have no white space around them.
    yield bool(reply) and reply == reference.truth.strip()
    yield agrees(reply, reference.truth)
    yield soft_accuracy(reply, reference.answers) if len(reference.answers) > 1 else None
