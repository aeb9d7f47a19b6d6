"""Print a frame as Markdown and LaTeX, formatted by column type: the simplest way to add a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from benchc.rendering.latex import latex_number, latex_symbols, latex_table
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import MISSING, interval_text, number_text
from benchc.rendering.output import Table

# The marks around a number in Markdown, and the command in LaTeX.
STYLES = {"bold": ("**", r"\mathbf"), "italic": ("*", r"\mathit")}


class Column(NamedTuple):
    """A column of a printed table. Texts are printed as they are, integers without decimals.

    ``latex``: the header in LaTeX, where it is not that of ``latex_symbols``. ``signed``: a shift, printed
    with its sign. ``digits``: the number of decimals. ``form`` returns the text of a number, or of null, that
    is printed in another way.

    These use further columns of the frame: ``interval``: ``{name}_low`` and ``{name}_high`` are printed after
    the number; ``rank``: ``rank_{name}`` follows in brackets, in LaTeX as a superscript; ``styled``:
    ``{name}_style`` is a key of ``STYLES``, or null.
    """

    name: str
    header: str
    latex: str | None = None
    signed: bool = False
    interval: bool = False
    digits: int = 3
    form: Callable[[Any], str] | None = None
    rank: bool = False
    styled: bool = False


def printed(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    *,
    caption: str,
    label: str,
    latex_caption: str | None = None,
    shown: pl.DataFrame | None = None,
    text_columns: int | None = None,
    small: bool = False,
    published: pl.DataFrame | None = None,
    summary: str = "",
) -> Table:
    """Return ``frame`` as a table that shows ``columns``, text columns first.

    Args:
        frame: the table with all digits.
        columns: the columns to print.
        caption: a plain text.
        label: that of LaTeX.
        latex_caption: the caption in LaTeX, where it is not that of ``latex_symbols``.
        shown: the frame to print, where it is not ``frame``.
        text_columns: how many columns are flush left, where not all columns of texts are.
        small: in footnote size in LaTeX, for a table that is too wide otherwise.
        published: as in :class:`Table`.
        summary: as in :class:`Table`.
    """
    shown = frame if shown is None else shown
    if text_columns is None:
        text_columns = sum(shown[column.name].dtype == pl.String and not column.form for column in columns)
    cells = [[_cell(row, column) for column in columns] for row in shown.iter_rows(named=True)]
    header = [column.header for column in columns]
    latex = latex_table(
        [column.latex or latex_symbols(column.header) for column in columns],
        [[text for _, text in row] for row in cells],
        caption=latex_symbols(caption) if latex_caption is None else latex_caption,
        label=label,
        text_columns=text_columns,
        small=small,
    )
    markdown = captioned(header, [[text for text, _ in row] for row in cells], caption, text_columns)
    return Table(frame, markdown, latex, published, summary)


def without_unknown_intervals(table: Table) -> Table:
    """Return a table without marks of unknown intervals: chance, and what a paper gives, have none."""
    return replace(
        table,
        markdown=table.markdown.replace(f" {interval_text(None, None)}", ""),
        latex=table.latex.replace(r"\ [\textrm{--}]", ""),
    )


def _cell(row: Mapping[str, Any], column: Column) -> tuple[str, str]:
    """Return a cell in Markdown and in LaTeX."""
    value = row[column.name]
    if column.form is not None:
        text = column.form(value)
        return text, latex_number(text)
    if isinstance(value, str):
        return value, latex_symbols(value)
    if value is None:
        return MISSING, latex_number(MISSING)
    text = number_text(value, column.signed, whole=isinstance(value, int), digits=column.digits)
    if column.interval:
        low, high = (row[f"{column.name}_{end}"] for end in ("low", "high"))
        text += f" {interval_text(low, high, signed=column.signed, digits=column.digits)}"
    style = row[f"{column.name}_style"] if column.styled else None
    if style is None and not column.rank:
        return text, latex_number(text)
    mark, command = STYLES[style] if style else ("", "")
    formula = f"{command}{{{text}}}" if command else text
    if not column.rank:
        return f"{mark}{text}{mark}", f"${formula}$"
    rank = row[f"rank_{column.name}"]
    return f"{mark}{text}{mark} ({rank})", f"${formula}^{{({rank})}}$"
