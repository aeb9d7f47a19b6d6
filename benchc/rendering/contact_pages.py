"""How the rows of a contact sheet are split into pages; without matplotlib, so that a plan can count them."""

from collections.abc import Sequence
from itertools import groupby

# With its caption this fills the page of a two-column paper.
MAX_ROWS = 11


def pages_of(groups: Sequence[str], max_rows: int = MAX_ROWS) -> list[range]:
    """Return the rows of each page, in order, given the group of each row.

    There are as few pages as possible, of nearly equal size, and no group that fits on one page is split.
    Raises ValueError where the rows of a group are not contiguous.
    """
    runs = [len(list(members)) for _, members in groupby(groups)]
    if len(runs) != len(set(groups)):
        raise ValueError(f"the rows of a group are not contiguous: {', '.join(groups)}; sort them by group")
    parts = [part for run in runs for part in _equal_parts(run, max_rows)]
    fewest = len(_filled(parts, max_rows))
    sizes = next(
        pages
        for rows in range(max(parts, default=0), max_rows + 1)
        if len(pages := _filled(parts, rows)) == fewest
    )
    return [range(sum(sizes[:page]), sum(sizes[: page + 1])) for page in range(len(sizes))]


def _equal_parts(rows: int, max_rows: int) -> list[int]:
    count = -(-rows // max_rows)
    return [rows * (part + 1) // count - rows * part // count for part in range(count)]


def _filled(parts: Sequence[int], max_rows: int) -> list[int]:
    pages: list[int] = []
    for part in parts:
        if pages and pages[-1] + part <= max_rows:
            pages[-1] += part
        else:
            pages.append(part)
    return pages
