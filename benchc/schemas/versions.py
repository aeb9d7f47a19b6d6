"""Library versions in the footers of tables, compared with those that are installed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from benchc.schemas.footer_diff import flat
from benchc.schemas.parquet import read_footer


class OtherVersion(NamedTuple):
    """Tables of one folder that another version of a library made."""

    folder: Path
    library: str
    recorded: str
    installed: str
    tables: int


def other_versions(run: Path) -> list[OtherVersion]:
    """Return the tables below ``run`` by folder whose footers name other versions than the installed ones.

    A fact is a library's version if its name is that of an installed package. Raises TableError for a
    damaged table.
    """
    found = Counter(
        (path.parent, library, recorded, installed)
        for path in sorted(run.rglob("*.parquet"))
        for library, recorded, installed in _versions(read_footer(path))
        if recorded != installed
    )
    return [OtherVersion(*key, tables=count) for key, count in found.items()]


def _installed(library: str) -> str:
    """Return the installed version of a library; raises ImportError where it is not installed."""
    if library == "opencv":  # of which there are several packages, such as opencv-python-headless
        import cv2

        return str(cv2.__version__)
    return version(library)


def _versions(footer: Mapping[str, object]) -> Iterable[tuple[str, str, str]]:
    for name, recorded in flat(footer):
        library = name.rpartition(".")[2]
        try:
            yield library, recorded, _installed(library)
        except ImportError:  # as PackageNotFoundError is
            continue
