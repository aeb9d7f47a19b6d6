"""CSV files that this pipeline writes and reads, such as those of tables; people open them in a spreadsheet.

See `benchc.csv_cells`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from benchc.csv_cells import FORMULA, NUMBER, cell_of, text_of
from benchc.errors import InputError

MOST_COLUMNS = 1000  # polars takes some 20 kB for each, of the one byte that a file may have


def csv_text(frame: pl.DataFrame) -> str:
    """Return a frame as CSV, in which no text is a formula."""
    return _changed(frame, cell_of, lambda text: pl.when(_is_formula(text)).then("'" + text)).write_csv()


def read_csv(path: Path, **options: Any) -> pl.DataFrame:
    """Return the frame of :func:`csv_text`; ``options`` and errors are those of polars."""
    with path.open("rb") as file:  # polars reads the files of a folder
        if file.readline().count(b",") >= MOST_COLUMNS:
            raise pl.exceptions.ComputeError(f"it has more than {MOST_COLUMNS:,} columns")
        file.seek(0)
        frame = pl.read_csv(file, **options)

    def text(cell: pl.Expr) -> pl.Expr:
        return pl.when(cell.str.starts_with("'") & _is_formula(cell)).then(cell.str.slice(1))

    return _changed(frame, text_of, text)


def read_table_csv(path: Path, *texts: str) -> pl.DataFrame:
    """Return the table; empty cells are null. Raises InputError where the file is missing or not CSV.

    ``texts`` are the columns that may have texts like numbers, such as the label 000100; of others, the cells
    decide the type.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file; run snakemake to create it")
    try:
        # All rows decide a column's type: its first cells may be empty.
        overrides = dict.fromkeys(texts, pl.String)
        return read_csv(path, infer_schema_length=None, schema_overrides=overrides)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read ({reason}); delete it and run snakemake again") from error


def _changed(frame: pl.DataFrame, name: Callable[[str], str], text: Callable[[pl.Expr], Any]) -> pl.DataFrame:
    texts = [pl.col(each) for each, dtype in frame.schema.items() if dtype == pl.String]
    changed = frame.with_columns(text(each).otherwise(each).name.keep() for each in texts)
    return changed.rename({each: name(each) for each in frame.columns if name(each) != each})


def _is_formula(text: pl.Expr) -> pl.Expr:
    return text.str.contains(f"^{FORMULA}") & ~text.str.contains(f"^({NUMBER})$")
