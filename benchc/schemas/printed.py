"""Read a table that was printed as csv."""

from pathlib import Path

import polars as pl

from benchc.errors import InputError


def read_printed(path: Path) -> pl.DataFrame:
    """Return the table; empty cells are null. Raises InputError where there is none, or it is no csv file."""
    if not path.exists():
        raise InputError(f"{path}: no such file; make it first")
    try:
        # All rows decide a column's type: one that begins with empty cells may hold numbers further down.
        return pl.read_csv(path, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read ({reason}); delete it and make it again") from error
