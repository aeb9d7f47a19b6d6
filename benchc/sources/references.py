"""The reference answers of a pool's items, by which free answers are graded."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.references import REFERENCES
from benchc.sources.item_text import read_answer_list, read_open_answer
from benchc.sources.tsv import read_rows
from benchc.sources.vqav2_annotations import read_annotations

Kind = Literal["tsv", "tsv_lists", "vqav2"]


class Reference(NamedTuple):
    """The reference answer of an item, and those of several annotators, if any."""

    truth: str
    answers: list[str]


class AnswerFile(NamedTuple):
    """The file with the answers to a source's open-ended questions.

    ``kind``: its TSV, a TSV whose answers are lists, or VQAv2's annotations.
    """

    kind: Kind
    path: Path


def read_references(pool: Path, files: Mapping[str, AnswerFile]) -> pl.DataFrame:
    """Return the reference answers of all items of ``pool``, of type REFERENCES in the pool's order.

    That of an item with options is the text of the right one. The others are read from ``files``, by source,
    and only for the items of the pool. Raises InputError where an item has none.
    """
    items = read_table(pool, POOL, ["id", "source", "options", "answer"])
    found: dict[str, Reference] = {}
    for id_, _, options, answer in items.iter_rows():
        if answer is not None:
            found[id_] = Reference(options[answer], [])
    for (source,), rows in items.filter(pl.col("answer").is_null()).group_by("source", maintain_order=True):
        file = files.get(str(source))
        if file is not None:
            indices = {id_.removeprefix(f"{source}/"): id_ for id_ in rows["id"]}
            if file.kind == "vqav2":
                answers = _of_vqav2(file.path, indices)
            else:
                answers = _of_tsv(file.path, indices, lists=file.kind == "tsv_lists")
            found |= {indices[index]: one for index, one in answers.items()}
    without = items.filter(~pl.col("id").is_in(list(found)))
    if not without.is_empty():
        id_, source = without.select("id", "source").row(0)
        where = str(files[source].path) if source in files else "its source"
        raise InputError(
            f"{pool}: item {id_} has no reference answer ({pluralize(without.height, 'item')} like this): it "
            f"has no options, and {where} no answer to it; make the pool again from the same files"
        )
    references = [(id_, *found[id_]) for id_ in items["id"]]
    return pl.DataFrame(references, schema=pl.Schema(REFERENCES.columns), orient="row")


def _of_tsv(path: Path, indices: Collection[str], *, lists: bool) -> dict[str, Reference]:
    found: dict[str, Reference] = {}
    for row in read_rows(path):
        index, answer = row.values.get("index", "").strip(), read_open_answer(row.values)
        # Of rows with one index, the first that is well-formed is the item.
        if index not in indices or index in found or row.problem is not None or answer is None:
            continue
        answers = [one.strip() for one in read_answer_list(answer)] if lists else [answer]
        found[index] = Reference(answers[0], answers if len(answers) > 1 else [])
    return found


def _of_vqav2(path: Path, indices: Collection[str]) -> dict[str, Reference]:
    wanted = {int(index) for index in indices}
    return {
        str(id_): Reference(annotation.truth, annotation.answers or [])
        for id_, annotation in read_annotations(path, wanted)
        if annotation.truth is not None
    }
