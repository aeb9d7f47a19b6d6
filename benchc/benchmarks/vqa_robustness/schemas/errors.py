"""Errors of models by corruption and level: tables/errors.csv of a run, or a table from elsewhere."""

from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS, Floats
from benchc.errors import InputError
from benchc.schemas.predictions import CLEAN
from benchc.schemas.printed import read_csv
from benchc.sources.tsv import listed

KEYS = ("model", "corruption", "level")
COLUMNS = (*KEYS, "error")
COUNTS = ("n", "wrong")
ROUNDED = 0.0005 + 1e-9  # errors have three digits at least
_ROW = "row"


class Errors(NamedTuple):
    """Errors [models, corruptions, 6] in [0, 1]; models and corruptions are in the order of the file."""

    models: tuple[str, ...]
    corruptions: tuple[str, ...]
    values: Floats


def read_errors(path: Path) -> Errors:
    """Return the errors of a CSV or Parquet file.

    Its columns are model, corruption, level (0, clean, to 5) and error, and perhaps n and wrong: how many
    answers there are, and are wrong. Other columns are ignored. Raises InputError, with the row or the model
    and corruption, unless each model has one error in [0, 1] at each level of each corruption, one at level
    0, and no ``wrong`` that gives another error.
    """
    rows = _rows(path)
    _require_once(path, rows)
    _require_one_clean(path, rows)
    models, corruptions = (tuple(rows[key].unique(maintain_order=True)) for key in ("model", "corruption"))
    every = pl.DataFrame({"model": models}).join(pl.DataFrame({"corruption": corruptions}), how="cross")
    every = every.join(pl.DataFrame({"level": range(LEVELS)}), how="cross")
    whole = every.join(rows, on=KEYS, how="left", maintain_order="left")
    if (absent := whole.filter(pl.col("error").is_null())).height:
        model, corruption, level, *_ = absent.row(0)
        if clean := [name for name in corruptions if name.lower() == CLEAN]:
            raise InputError(
                f"{path}: {clean[0]} is no corruption; write the clean error of a model as level 0 of each "
                "of its corruptions"
            )
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
            # pyarrow takes long to import, and CSV does without.
            from benchc.sources.hub_parquet import opened_parquet

            with opened_parquet(path, "errors") as file:
                names = file.names
                texts = file.frame([name for name in names if _plain(name) in (*COLUMNS, *COUNTS)])
            texts = texts.cast(pl.String)
        else:
            texts = read_csv(path, infer_schema=False, encoding="utf8")
            names = texts.columns
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; give a {kind} file with {', '.join(COLUMNS)}") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read as {kind} ({reason}); correct the file") from error
    plain = [_plain(name) for name in names]
    if doubled := [
        name
        for name in (*COLUMNS, *COUNTS)
        if sum(each.startswith(f"{name}_duplicated_") or each == name for each in plain) > 1
    ]:
        raise InputError(f"{path}: has two columns {doubled[0]!r}; remove one")
    if missing := [name for name in COLUMNS if name not in plain]:
        raise InputError(
            f"{path}: has no column {missing[0]!r} (it has {listed(names)}); it needs "
            f"{', '.join(COLUMNS)}{'' if parquet else ', separated by commas'}"
        )
    if not texts.height:
        raise InputError(f"{path}: has no rows; add one for each model, corruption and level")
    # The first line of a CSV file is the header.
    first = 1 if parquet else 2
    counts = COUNTS if set(COUNTS) <= set(plain) else ()
    own = [pl.col(names[plain.index(name)]).alias(name) for name in (*COLUMNS, *counts)]
    rows = texts.select(
        pl.int_range(first, pl.len() + first).alias(_ROW), *(column.str.strip_chars() for column in own)
    )
    values = rows.with_columns(
        # pandas writes integers as 0.0 where the column has been floating-point.
        pl.col("level").str.replace(r"\.0+$", "").cast(pl.Int64, strict=False),
        pl.col("error", *counts).cast(pl.Float64, strict=False),
    )
    named = {
        name: (
            (pl.col(name).str.len_chars() > 0) & ~pl.col(name).str.contains("\0"),
            f"is no name; name the {name}",
        )
        for name in ("model", "corruption")
    }
    checks = {
        **named,
        "level": (
            pl.col("level").is_between(0, LEVELS - 1),
            "is no level from 0 to 5; correct it",
        ),
        "error": (pl.col("error").is_between(0, 1), "is no number from 0 to 1; give errors, not per cent"),
    }
    if counts:
        differs = (pl.col("wrong") / pl.col("n") - pl.col("error")).abs() > ROUNDED
        checks["wrong"] = (~differs.fill_null(value=False), "is not error * n; correct one of them")
    for name, (valid, remedy) in checks.items():
        # Null, of an empty cell or a text, and NaN are invalid.
        invalid = values.filter(~valid.fill_null(value=False))
        if invalid.height:
            number = invalid[_ROW][0]
            text = rows.row(number - first, named=True)[name]
            raise InputError(f"{path}: row {number}: {name} {text or ''!r} {remedy}")
    return values.select(_ROW, *COLUMNS)


def _plain(name: str) -> str:
    return name.strip().lower()


def _require_once(path: Path, rows: pl.DataFrame) -> None:
    doubled = rows.filter(~pl.struct(KEYS).is_first_distinct())
    if doubled.height:
        number, model, corruption, level, _ = doubled.row(0)
        raise InputError(
            f"{path}: row {number}: {model} has a second error under {corruption} at level {level}; "
            "remove one"
        )


def _require_one_clean(path: Path, rows: pl.DataFrame) -> None:
    """Raise InputError where level 0, the clean images, differs between the corruptions of a model."""
    clean = rows.filter(level=0).with_columns(first=pl.col("error").first().over("model"))
    if (other := clean.filter((pl.col("error") - pl.col("first")).abs() > 1e-9)).height:
        number, model, corruption, _, error, first = other.row(0)
        raise InputError(
            f"{path}: row {number}: the error of {model} at level 0 is {error:g} under {corruption}, but "
            f"{first:g} in an earlier row; level 0 is of the clean images, so correct one"
        )
