"""Tables that a user has as CSV or Parquet."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.csv_rows import read_rows
from benchc.errors import InputError

ROW = "row"


def read_user_table(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Return ``columns`` of a CSV or Parquet file, as texts, and ``row``, the number of each row in the file.

    Other columns are ignored. A list becomes a text of its values, or null where one is null. Raises
    InputError where the file cannot be read, or has a column twice or not, or a row with fewer or more cells
    than the header.
    """
    if path.suffix != ".parquet":
        rows = [{ROW: number, **row} for number, row in read_rows(path, columns)]
        return pl.DataFrame(rows, schema={ROW: pl.Int64, **dict.fromkeys(columns, pl.String)})
    table = read_parquet(path, columns)
    texts = [
        pl.col(name).cast(pl.List(pl.String)).list.join(" ", ignore_nulls=False)
        if isinstance(table.schema[name], pl.List | pl.Array)
        else pl.col(name).cast(pl.String)
        for name in columns
    ]
    try:
        return table.select(pl.int_range(1, pl.len() + 1).alias(ROW), *texts)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path}: {', '.join(columns)} should be texts, numbers or lists of these; correct their types"
        ) from error


def read_parquet(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Return ``columns`` of a Parquet file of another program.

    Raises InputError where it cannot be read, lacks one, or would fill the memory.
    """
    # pyarrow takes long to import, and CSV does without.
    from benchc.sources.hub_parquet import opened_parquet

    with opened_parquet(path, "the table") as file:
        if missing := [name for name in columns if name not in file.names]:
            raise InputError(
                f"{path}: has no column {missing[0]!r} (it has {', '.join(file.names)}); it needs "
                f"{', '.join(columns)}"
            )
        return file.frame(columns)


def numbers(path: Path, table: pl.DataFrame, column: str, allowed: Sequence[str]) -> pl.DataFrame:
    """Return a table with the places of the values of a column in ``allowed``, as Int64.

    Raises InputError, with the row, for another value.
    """
    found = table.with_columns(
        pl.col(column)
        .str.to_lowercase()
        .replace_strict(
            {value: number for number, value in enumerate(allowed)}, default=None, return_dtype=pl.Int64
        )
        .alias("_")
    )
    link = "or" if len(allowed) == 2 else "to"
    refuse(path, found, pl.col("_").is_null(), column, f"{allowed[0]} {link} {allowed[-1]}")
    return found.with_columns(pl.col("_").alias(column)).drop("_")


def whole_number(column: str) -> pl.Expr:
    """Return a column's whole numbers, null where there is none.

    Where another row has none, pandas writes 2 as 2.0.
    """
    return pl.col(column).str.strip_suffix(".0").cast(pl.Int64, strict=False)


def refuse(path: Path, table: pl.DataFrame, wrong: pl.Expr, column: str, expected: str) -> None:
    """Raise InputError, with the row, for the first row of which ``wrong`` holds."""
    bad = table.filter(wrong)
    if bad.height:
        row = bad.row(0, named=True)
        raise InputError(f"{path}: row {row[ROW]}: {column} is {row[column]!r}; it should be {expected}")
