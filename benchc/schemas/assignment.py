"""`pool/assignment.parquet`: under which corruptions, at which severities, each item is shown.

Optional: without it, each item is shown under all corruptions at all severities. Clean images are always
shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.schemas.parquet import REMAKE, TableType, read_table
from benchc.schemas.predictions import CLEAN, KEY

ASSIGNMENT = TableType(
    "assignment",
    1,
    {"id": pl.String, "corruption": pl.String, "severity": pl.Int64},
)

# Severities, ascending, by corruption and item.
Assignment = Mapping[str, Mapping[str, Sequence[int]]]


def read_assignment(path: Path, recipes: Mapping[str, Iterable[int]]) -> Assignment:
    """Return the severities of each item by corruption, of all of ``recipes`` but ``clean``.

    ``recipes``: the severities of the run by corruption. A corruption without an item has none. Raises
    InputError for a row that is there twice, or of another corruption or severity.
    """
    rows = read_table(path, ASSIGNMENT)
    twice = rows.filter(pl.struct(KEY).is_duplicated())
    if twice.height:
        raise InputError(f"{path}: {_named(twice)} is there twice; {REMAKE}")
    wanted = pl.DataFrame(
        [(name, severity) for name, levels in recipes.items() if name != CLEAN for severity in levels],
        schema={"corruption": pl.String, "severity": pl.Int64},
        orient="row",
    )
    ours = rows.filter(pl.col("corruption").is_in([*recipes]))
    if (other := ours.join(wanted, on=["corruption", "severity"], how="anti")).height:
        raise InputError(f"{path}: {_named(other)} is not of the run's severities; {REMAKE}")
    found: dict[str, dict[str, list[int]]] = {name: {} for name in recipes if name != CLEAN}
    for id_, corruption, severity in ours.sort(KEY).iter_rows():
        found[corruption].setdefault(id_, []).append(severity)
    return found


def _named(rows: pl.DataFrame) -> str:
    id_, corruption, severity = rows.select(KEY).row(0)
    return f"item {id_} under {corruption} at severity {severity}"
