"""Grade free answers by reference answers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.errors import InputError
from benchc.judges.short_answer import agrees, soft_accuracy
from benchc.schemas.grades import GRADES
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
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


def _grades(reply: str, reference: Reference) -> Iterator[object]:
    # Replies have no white space around them.
    yield bool(reply) and reply == reference.truth.strip()
    yield agrees(reply, reference.truth)
    yield soft_accuracy(reply, reference.answers) if len(reference.answers) > 1 else None
