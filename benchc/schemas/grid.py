"""Tables that must have each item once in each cell: under each corruption at each severity."""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.logits import Integers, first_names
from benchc.schemas.predictions import KEY

Cell = tuple[str, int]  # a corruption and a severity


def in_cells(rows: pl.DataFrame, cells: Sequence[Cell]) -> pl.DataFrame:
    """Return the rows of these cells."""
    return rows.join(_frame(cells), on=["corruption", "severity"], how="semi", maintain_order="left")


def grid_rows(
    rows: pl.DataFrame, ids: Iterable[str], cells: Sequence[Cell], what: str, *, mend: str, fill: str = ""
) -> Integers:
    """Return the number of the row of each item in each cell, int64[items, cells].

    Args:
        rows: has the columns KEY; in any order.
        ids: those of the items, each once.
        cells: each once.
        what: a word for a row in messages, after the name of a model or file where there are several.
        mend: ends the message on a row that is repeated, or not of these items and cells.
        fill: ends the message on a missing row, if not the same.

    Raises InputError, naming rows, where one is missing, repeated, or of another item or cell.
    """
    items = pl.Series(ids, dtype=pl.String)
    names, severities = (sorted(set(values)) for values in zip(*cells, strict=True))
    # Integer codes: joins and sorts of a million strings would dominate the time of scoring.
    cell_of = np.full((len(names), len(severities)), -1)
    for number, (name, severity) in enumerate(cells):
        cell_of[names.index(name), severities.index(severity)] = number
    item = rows["id"].cast(pl.Enum(items), strict=False).to_physical()
    corruption = rows["corruption"].cast(pl.Enum(names), strict=False).to_physical()
    known = all(each.null_count() == 0 for each in (item, corruption, rows["severity"]))
    known = known and rows["severity"].is_in(severities).all()
    if known and rows.height == len(items) * len(cells):
        cell = cell_of[corruption.to_numpy(), np.searchsorted(severities, rows["severity"].to_numpy())]
        found = np.full(rows.height, -1, dtype=np.int64)
        found[(item.to_numpy().astype(np.int64) * len(cells) + cell)[cell >= 0]] = np.flatnonzero(cell >= 0)
        if (found >= 0).all():
            return found.reshape(len(items), len(cells))
    missing = missing_keys(rows, items, cells, what, mend=mend)
    raise InputError(f"{_listed(missing, 'missing', what)}; {fill or mend}")


def missing_keys(
    rows: pl.DataFrame, ids: Iterable[str], cells: Sequence[Cell], what: str, *, mend: str
) -> pl.DataFrame:
    """Return the sorted KEY of the rows that :func:`grid_rows` lacks; arguments and other errors as there."""
    wanted = pl.DataFrame({"id": pl.Series(ids, dtype=pl.String)}).join(_frame(cells), how="cross")
    return _missing(rows, wanted, what, mend)


def rows_of(
    rows: pl.DataFrame, wanted: pl.DataFrame, what: str, *, mend: str, fill: str = ""
) -> pl.DataFrame:
    """Return the row of each KEY of ``wanted``, in its order; arguments and errors as :func:`grid_rows`."""
    missing = _missing(rows, wanted, what, mend)
    if missing.height:
        raise InputError(f"{_listed(missing, 'missing', what)}; {fill or mend}")
    return wanted.join(rows, on=KEY, how="left", maintain_order="left")


def _missing(rows: pl.DataFrame, wanted: pl.DataFrame, what: str, mend: str) -> pl.DataFrame:
    keys = rows.select(pl.col("id", "corruption").cast(pl.String), pl.col("severity").cast(pl.Int64))
    for wrong, kind in (
        (keys.filter(pl.struct(KEY).is_duplicated()).unique(), "repeated"),
        (keys.join(wanted, on=KEY, how="anti"), "unexpected"),
    ):
        if wrong.height:
            raise InputError(f"{_listed(wrong, kind, what)}; {mend}")
    return wanted.join(keys, on=KEY, how="anti").sort(KEY)


def _frame(cells: Sequence[Cell]) -> pl.DataFrame:
    return pl.DataFrame(cells, schema={"corruption": pl.String, "severity": pl.Int64}, orient="row")


def _listed(keys: pl.DataFrame, kind: str, what: str) -> str:
    *where, noun = what.rpartition(": ")
    return f"{''.join(where)}{pluralize(keys.height, f'{kind} {noun}')}: {first_names(keys)}"
