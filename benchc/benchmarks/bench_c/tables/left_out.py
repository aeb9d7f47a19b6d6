"""How many items tables leave out, since some target lacks reads of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchc.schemas.parquet import read_footer

MISSING = "missing_items"  # of a footer of scores, where reads are missing


def left_out(paths: Sequence[Path], items: int) -> int:
    """Return how many selected items are left out where targets are compared on ``items`` of them.

    ``paths``: their tables of scores. 0 where none of these says that reads are missing.
    """
    footers = [read_footer(path) for path in paths]
    selected = [number(footer, "items") + number(footer, MISSING) for footer in footers if MISSING in footer]
    return max(selected) - items if selected else 0


def left_out_note(paths: Sequence[Path], items: int) -> str:
    """Return the sentence that ends the caption of what compares targets, with a space in front.

    Arguments as for :func:`left_out`; empty where that is 0.
    """
    missing = left_out(paths, items)
    if not missing:
        return ""
    return f" On {items:,} of {items + missing:,} items: those whose reads all targets have."


def number(footer: Mapping[str, object], key: str) -> int:
    """Return a count that a footer holds; 0 where it holds none."""
    return int(str(footer.get(key, 0)))
