"""Read a table that this pipeline wrote as CSV."""

from pathlib import Path

import polars as pl

from benchc.errors import InputError


def read_table_csv(path: Path) -> pl.DataFrame:
    """Return the table; empty cells are null. Raises InputError where the file is missing or not CSV."""
    if not path.exists():
        raise InputError(f"{path}: no such file; run snakemake to create it")
    try:
        # All rows decide a column's type: its first cells may be empty.
        return pl.read_csv(path, infer_schema_length=None, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read ({reason}); delete it and run snakemake again") from error
