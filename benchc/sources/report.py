"""The report on reading a source: rows that did not become items, and notes on those that did."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

import polars as pl

from benchc.pluralize import pluralize

Kind = Literal["rejected", "excluded", "note"]

SCHEMA = pl.Schema({"id": pl.String, "line": pl.Int64, "kind": pl.String, "reason": pl.String})


class Remark(NamedTuple):
    """One row of the report.

    ``line`` is the line of the file on which the source's row ends; None where the file has no rows.
    """

    id: str
    line: int | None
    kind: Kind
    reason: str


def report_frame(remarks: Iterable[Remark]) -> pl.DataFrame:
    """Return the report as a frame with the columns id, line, kind and reason."""
    return pl.DataFrame(list(remarks), schema=SCHEMA, orient="row")


def counted(items: int, published: str | None, thing: str = "item") -> str:
    """Return the number of items, beside the published one, as text."""
    return pluralize(items, thing) + (f" (published: {published})" if published else "")


def summary(
    source: str, items: int, report: pl.DataFrame, thing: str = "item", published: str | None = None
) -> str:
    """Return the number of items, and of the report's rows by kind and reason, as lines of text.

    ``thing`` is what the items are called, ``published`` how many there are as published.
    """
    lines = [f"{source}: {counted(items, published, thing)}"]
    counts = Counter(zip(report["kind"], report["reason"], strict=True))
    lines += [f"  {count:,} {kind}: {reason}" for (kind, reason), count in counts.most_common()]
    return "\n".join(lines)
