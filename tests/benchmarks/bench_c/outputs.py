"""The tables and figures of Bench-C as their rules make them, from files and from settings."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from benchc.rendering.output import call, function_of, inputs_of
from benchc.schemas.footer import Footer
from benchc.schemas.models import Model, Models, models_text
from benchc.schemas.parquet import TableType, write_table


def function_named(name: str) -> Callable[..., Any]:
    """Return the function of a table or a figure."""
    kind = "figures" if name.startswith("figure") else "tables"
    return function_of(f"benchc.benchmarks.bench_c.{kind}.{name}")


def output(name: str, files: Mapping[str, Iterable[str]], **settings: object) -> Any:
    """Return a table or a figure made from ``files``, paths by input, and from ``settings``."""
    function = function_named(name)
    several = inputs_of(function)
    paths = {key: [Path(path) for path in given] for key, given in files.items()}
    inputs = {key: found if several[key] == list[Path] else found[0] for key, found in paths.items()}
    return call(function, {**inputs, **settings})


def rows_of(markdown: str) -> list[list[str]]:
    """Return the cells of every line of the tables, with those of the header and of the rule below it."""
    lines = [line.strip() for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def flat(text: str) -> str:
    """Return the text with single spaces, in one line."""
    return " ".join(text.split())


def write_filled(
    columns: Mapping[str, Any], path: str | Path, table: TableType, footer: Footer | None = None
) -> pl.DataFrame:
    """Write a table of which these columns are given and the others null; return it."""
    given = pl.DataFrame(columns, schema_overrides={name: table.columns[name] for name in columns})
    absent = {name: pl.lit(None, dtype) for name, dtype in table.columns.items() if name not in columns}
    frame = given.with_columns(**absent).select(*table.columns)
    write_table(frame, path, table, footer)
    return frame


def write_models(path: str | Path, labels: Mapping[str, str]) -> None:
    """Write models.json of models by id."""
    models = {id_: Model(id_, label) for id_, label in labels.items()}
    Path(path).write_text(models_text(Models("bench-c", models)))


def write_record(folder: Path, **settings: object) -> None:
    """Write the records of a run's configuration, of which the settings given differ between runs."""
    record = {"name": folder.name, "catalogues": {"models": str(folder)}, "seed": 1, **settings}
    (folder / "config.yaml").write_text(yaml.safe_dump(record))
    for part in ("sources", "models"):
        (folder / f"config-{part}.yaml").write_text(yaml.safe_dump({"one": {"label": "One"}}))
