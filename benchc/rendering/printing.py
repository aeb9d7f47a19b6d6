"""Print a frame as Markdown and LaTeX, formatted by column type: the simplest way to add a table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from benchc.rendering.latex import latex_number, latex_symbols, latex_table
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import interval_text, number_text
from benchc.rendering.output import Table


class Column(NamedTuple):
    """A column of a printed table. Texts are printed as they are, integers without decimals.

    ``signed``: a shift, printed with its sign. ``interval``: the columns ``{name}_low`` and ``{name}_high``
    are printed after the number. ``digits``: the number of decimals, or of significant digits where a column
    is ``significant``, as one of many orders of magnitude is.
    """

    name: str
    header: str
    signed: bool = False
    interval: bool = False
    digits: int = 3
    significant: bool = False


def printed(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    *,
    caption: str,
    label: str,
    summary: str = "",
    small: bool = False,
) -> Table:
    """Return ``frame`` as a table that shows ``columns``, text columns first.

    ``label`` is LaTeX's; ``small``: in footnote size there, for a table that is too wide otherwise.
    """
    texts = sum(frame[column.name].dtype == pl.String for column in columns)
    header = [column.header for column in columns]
    rows = [[_cell(row, column) for column in columns] for row in frame.iter_rows(named=True)]
    latex = latex_table(
        [latex_symbols(name) for name in header],
        [[*map(latex_symbols, row[:texts]), *map(latex_number, row[texts:])] for row in rows],
        caption=latex_symbols(caption),
        label=label,
        text_columns=texts,
        small=small,
    )
    return Table(frame, captioned(header, rows, caption, texts), latex, summary=summary)


def without_unknown_intervals(table: Table) -> Table:
    """Return a table without marks of unknown intervals: chance, and what a paper gives, have none."""
    return replace(
        table,
        markdown=table.markdown.replace(f" {interval_text(None, None)}", ""),
        latex=table.latex.replace(r"\ [\textrm{--}]", ""),
    )


def _cell(row: dict[str, str | float | None], column: Column) -> str:
    value = row[column.name]
    if isinstance(value, str):
        return value
    if column.significant and value is not None:
        return f"{value:+.{column.digits}g}" if value and column.signed else f"{value:.{column.digits}g}"
    text = number_text(value, column.signed, whole=isinstance(value, int), digits=column.digits)
    if not column.interval or value is None:
        return text
    low, high = (row[f"{column.name}_{end}"] for end in ("low", "high"))
    assert not isinstance(low, str) and not isinstance(high, str)
    return f"{text} {interval_text(low, high, signed=column.signed, digits=column.digits)}"
