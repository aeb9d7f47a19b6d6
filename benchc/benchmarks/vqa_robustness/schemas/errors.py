"""Errors of models by corruption and level: tables/errors.csv of a run, or a table from elsewhere."""

from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS, Floats
from benchc.errors import InputError

KEYS = ("model", "corruption", "level")
COLUMNS = (*KEYS, "error")
_ROW = "row"


class Errors(NamedTuple):
    """Errors [models, corruptions, 6] in [0, 1]; models and corruptions are in the order of the file."""

    models: tuple[str, ...]
    corruptions: tuple[str, ...]
    values: Floats


def read_errors(path: Path) -> Errors:
    """Return the errors of a CSV or Parquet file.

    Its columns are model, corruption, level (0, clean, to 5) and error.
    Other columns are ignored. Raises InputError, with the row or the model and corruption, unless each model
    has one error in [0, 1] at each level of each corruption.
    """
    rows = _rows(path)
    _require_once(path, rows)
    models, corruptions = (tuple(rows[key].unique(maintain_order=True)) for key in ("model", "corruption"))
    every = pl.DataFrame({"model": models}).join(pl.DataFrame({"corruption": corruptions}), how="cross")
    every = every.join(pl.DataFrame({"level": range(LEVELS)}), how="cross")
    whole = every.join(rows, on=KEYS, how="left", maintain_order="left")
    if (absent := whole.filter(pl.col("error").is_null())).height:
        model, corruption, level, *_ = absent.row(0)
        raise InputError(
            f"{path}: {model} has no error under {corruption} at level {level}; add the row (each model "
            f"needs the levels 0 to {LEVELS - 1} of each corruption of the file)"
        )
    shape = (len(models), len(corruptions), LEVELS)
    return Errors(models, corruptions, whole["error"].to_numpy().reshape(shape))


def _rows(path: Path) -> pl.DataFrame:
    """Return the rows with their numbers; levels are integers from 0 to 5, and errors in [0, 1]."""
    parquet = path.suffix == ".parquet"
    kind = "Parquet" if parquet else "CSV"
    try:
        # As text, so that a value which is no number can be shown.
        if parquet:
            table = pl.read_parquet(path, glob=False)
            known = [name for name in table.columns if name.strip().lower() in COLUMNS]
            texts = table.with_columns(pl.col(known).cast(pl.String))
        else:
            texts = pl.read_csv(path, infer_schema=False, glob=False, encoding="utf8")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; give a {kind} file with {', '.join(COLUMNS)}") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read as {kind} ({reason}); correct the file") from error
    names = [name.strip().lower() for name in texts.columns]
    if doubled := [
        name
        for name in COLUMNS
        if sum(each.startswith((f"{name}_duplicated_",)) or each == name for each in names) > 1
    ]:
        raise InputError(f"{path}: has two columns {doubled[0]!r}; remove one")
    texts = texts.rename(dict(zip(texts.columns, names, strict=True)))
    if missing := [name for name in COLUMNS if name not in texts.columns]:
        raise InputError(
            f"{path}: has no column {missing[0]!r} (it has {', '.join(texts.columns)}); it needs "
            f"{', '.join(COLUMNS)}{'' if parquet else ', separated by commas'}"
        )
    if not texts.height:
        raise InputError(f"{path}: has no rows; add one for each model, corruption and level")
    # The first line of a CSV file is the header.
    first = 1 if parquet else 2
    rows = texts.select(pl.int_range(first, pl.len() + first).alias(_ROW), pl.col(COLUMNS).str.strip_chars())
    values = rows.with_columns(
        # pandas writes integers as 0.0 where the column has been floating-point.
        pl.col("level").str.replace(r"\.0+$", "").cast(pl.Int64, strict=False),
        pl.col("error").cast(pl.Float64, strict=False),
    )
    checks = {
        "model": (pl.col("model").str.len_chars() > 0, "is empty; name the model"),
        "corruption": (pl.col("corruption").str.len_chars() > 0, "is empty; name the corruption"),
        "level": (
            pl.col("level").is_between(0, LEVELS - 1),
            "is no level from 0 to 5; correct it",
        ),
        "error": (pl.col("error").is_between(0, 1), "is no number from 0 to 1; give errors, not per cent"),
    }
    for name, (valid, remedy) in checks.items():
        # Null, of an empty cell or a text, and NaN are invalid.
        invalid = values.filter(~valid.fill_null(value=False))
        if invalid.height:
            number = invalid[_ROW][0]
            text = rows.row(number - first, named=True)[name]
            raise InputError(f"{path}: row {number}: {name} {text or ''!r} {remedy}")
    return values


def _require_once(path: Path, rows: pl.DataFrame) -> None:
    doubled = rows.filter(~pl.struct(KEYS).is_first_distinct())
    if doubled.height:
        number, model, corruption, level, _ = doubled.row(0)
        raise InputError(
            f"{path}: row {number}: {model} has a second error under {corruption} at level {level}; "
            "remove one"
        )
