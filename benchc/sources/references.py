"""The reference answers of a pool's items, by which free answers are graded."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.references import REFERENCES
from benchc.sources.error import InvalidRowError
from benchc.sources.item_text import read_open_answers
from benchc.sources.rows import read_rows


class Reference(NamedTuple):
    """The reference answer of an item, and those of several annotators, if any."""

    truth: str
    answers: list[str]


class AnswerFile(NamedTuple):
    """The file with the answers to a source's open-ended questions, whether they are lists, and its columns.

    ``columns``: as of the reader.
    """

    path: Path
    lists: bool = False
    columns: Mapping[str, str | list[str]] = {}


def read_references(pool: Path, files: Mapping[str, AnswerFile], known: Collection[str] = ()) -> pl.DataFrame:
    """Return the reference answers of all items of ``pool``, of type REFERENCES in the pool's order.

    Items whose ids are ``known`` are left out.

    That of an item with options is the text of the right one. The others are read from ``files``, by source,
    and only for the items of the pool. Raises InputError where an item has none.
    """
    items = read_table(pool, POOL, ["id", "source", "options", "answer"])
    items = items.filter(~pl.col("id").is_in(list(known)))
    found: dict[str, Reference] = {}
    for id_, _, options, answer in items.iter_rows():
        if answer is not None:
            found[id_] = Reference(options[answer], [])
    for (source,), rows in items.filter(pl.col("answer").is_null()).group_by("source", maintain_order=True):
        file = files.get(str(source))
        if file is not None:
            indices = {id_.removeprefix(f"{source}/"): id_ for id_ in rows["id"]}
            found |= {indices[index]: one for index, one in _answers(file, indices).items()}
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


def _answers(file: AnswerFile, indices: Collection[str]) -> dict[str, Reference]:
    found: dict[str, Reference] = {}
    for row in read_rows(file.path, file.columns, images=False):
        index = row.values.get("index", "").strip()
        # Of rows with one index, the first that is well-formed is the item.
        if index in indices and index not in found and row.problem is None:
            with suppress(InvalidRowError):
                found[index] = Reference(*read_open_answers(row.values, answer_lists=file.lists))
    return found
