"""Facts that the footers of several files of one run share."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from benchc.errors import InputError
from benchc.schemas.parquet import TableError, TableType, read_footer, read_table


def add_shared_facts(
    found: dict[str, object], path: Path, footer: Mapping[str, object], names: Iterable[str]
) -> None:
    """Add the facts of these names in the footer of ``path`` to ``found``, those of the files before.

    Raises TableError where one differs. A fact that a footer lacks is not compared.
    """
    for name in names:
        if name in footer and found.setdefault(name, footer[name]) != footer[name]:
            raise TableError(
                f"{path}: its {name} is {footer[name]}, that of the files before is {found[name]}; delete "
                "the files of the wrong one and run snakemake again"
            )


def tables_by_model(
    paths: Iterable[Path], table: TableType, what: str
) -> dict[str, tuple[Path, pl.DataFrame, dict[str, Any]]]:
    """Return the path, rows and footer of one file for each model, by the ids in the footers (``label``).

    ``what``: they contain, in words. Raises InputError where two files are of one model, or of another pool,
    seed or alpha.
    """
    found: dict[str, tuple[Path, pl.DataFrame, dict[str, Any]]] = {}
    facts: dict[str, object] = {}
    for path in paths:
        footer = read_footer(path)
        id_ = str(footer.get("label", path.stem))
        if id_ in found:
            raise InputError(f"{path}: a second file of the {what} of {id_}; give one for each model")
        add_shared_facts(facts, path, footer, ("pool", "seed", "alpha"))
        found[id_] = path, read_table(path, table), footer
    return found
