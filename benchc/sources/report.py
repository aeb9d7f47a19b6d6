"""The report of a reader: every row that did not become an item, or did with a remark."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

import polars as pl

Kind = Literal["refused", "left out", "note"]

SCHEMA = pl.Schema({"id": pl.String, "line": pl.Int64, "kind": pl.String, "reason": pl.String})


class Remark(NamedTuple):
    """One line of the report. ``line`` is where the row ends in the file."""

    id: str
    line: int
    kind: Kind
    reason: str


def report_frame(remarks: Iterable[Remark]) -> pl.DataFrame:
    """Return the report as a frame with the columns id, line, kind and reason."""
    return pl.DataFrame(list(remarks), schema=SCHEMA, orient="row")


def summary(source: str, items: int, report: pl.DataFrame) -> str:
    """Return the report in a few lines: the number of items, then of rows by kind and reason."""
    lines = [f"{source}: {items:,} items"]
    counts = Counter(zip(report["kind"], report["reason"], strict=True))
    lines += [f"  {count:,} {kind}: {reason}" for (kind, reason), count in counts.most_common()]
    return "\n".join(lines)
