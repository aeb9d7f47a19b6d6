"""Facts that the footers of several files of one run share."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from benchc.schemas.parquet import TableError


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
