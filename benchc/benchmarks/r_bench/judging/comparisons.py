"""What is judged of one model: its replies against the truth, and against each other."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.tasks import Kind, Task
from benchc.errors import InputError
from benchc.judges.reference_grades import answers_of_one_model, read_references
from benchc.letters import LETTERS
from benchc.schemas.answers_csv import read_answers
from benchc.schemas.assignment import Assignment
from benchc.schemas.grid import rows_of
from benchc.schemas.parquet import REMAKE, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import CLEAN, KEY


class Item(NamedTuple):
    """An item.

    Attributes:
        options: texts; none of an open question
        truths: right answers: the letter of an item with options, one text, or captions
    """

    id: str
    task: Task
    question: str
    options: tuple[str, ...]
    truths: tuple[str, ...]


class Comparison(NamedTuple):
    """A reply, and what it is compared with.

    Attributes:
        item: that the reply is to
        corruption, severity: of the image that the reply is to
        kind: dis and ref compare with the truth; com compares with the reply to the reference image
        reference: 0-based: which of the truths
        reply: what is judged
        against: a truth of the item, or the reply to the reference image
    """

    item: Item
    corruption: str
    severity: int
    kind: Kind
    reference: int
    reply: str
    against: str


def read_items(pool: Path, references: Path, tasks: Path) -> dict[str, Item]:
    """Return the items by id. Raises InputError where a file is of another pool, or an answer is absent."""
    truths = read_references(references, pool)
    rows = read_table(pool, POOL, ["id", "question", "options", "answer"])
    table = rows.join(read_table(tasks, TASK_TABLE), on="id", how="inner", maintain_order="left")
    found = {}
    for id_, question, options, answer, task in table.iter_rows():
        if task == "mcq" and not options:
            raise InputError(f"{tasks}: {id_} is mcq, but has no options; correct `tasks` of its source")
        reference = truths[id_]
        texts: tuple[str, ...] = (LETTERS[answer],) if task == "mcq" else (reference.truth,)
        if task == "cap" and reference.answers:
            texts = tuple(reference.answers)
        found[id_] = Item(id_, task, question, tuple(options), texts)
    return found


def replies_of_run(answers: Sequence[Path], assignment: Assignment) -> pl.DataFrame:
    """Return KEY and reply of the answers of one model, of assigned cells and of clean images of their items.

    Raises InputError where one is missing.
    """
    wanted = wanted_cells(assignment)
    rows = answers_of_one_model(answers).select(*KEY, "reply")
    ours = rows.join(wanted, on=KEY, how="semi")
    return rows_of(ours, wanted, f"{answers[0].parent}: answer", mend=REMAKE)


def replies_of_file(path: Path, assignment: Assignment) -> pl.DataFrame:
    """Return the same of answers in a CSV file, which another program made."""
    ids = [*dict.fromkeys(wanted_cells(assignment)["id"])]
    severities = sorted({level for cells in assignment.values() for each in cells.values() for level in each})
    return read_answers(path, ids, assignment, severities, assignment).select(*KEY, "reply")


def wanted_cells(assignment: Assignment) -> pl.DataFrame:
    """Return KEY of each assigned cell, after that of the clean image of its item."""
    cells = {
        (id_, corruption, level)
        for corruption, levels in assignment.items()
        for id_, found in levels.items()
        for level in found
    }
    clean = {(id_, CLEAN, 0) for id_, _, _ in cells}
    schema = {"id": pl.String, "corruption": pl.String, "severity": pl.Int64}
    # Sorted by whether it is clean first.
    rows = sorted(clean | cells, key=lambda cell: (cell[0], cell[1] != CLEAN, *cell[1:]))
    return pl.DataFrame(rows, schema=schema, orient="row")


def comparisons(replies: pl.DataFrame, items: Mapping[str, Item]) -> Iterator[Comparison]:
    """Yield all comparisons of a model; ``replies``: KEY and reply of its cells and their clean images.

    Raises InputError for an item without a task.
    """
    of_clean = dict(replies.filter(corruption=CLEAN).select("id", "reply").iter_rows())
    for id_, corruption, severity, reply in replies.select(*KEY, "reply").iter_rows():
        if id_ not in items:
            raise InputError(f"pool/tasks.parquet: item {id_} is assigned, but has no task; {REMAKE}")
        item = items[id_]
        kind: Kind = "ref" if corruption == CLEAN else "dis"
        for number, truth in enumerate(item.truths):
            yield Comparison(item, corruption, severity, kind, number, reply, truth)
        if kind == "dis":
            yield Comparison(item, corruption, severity, "com", 0, reply, of_clean[id_])
