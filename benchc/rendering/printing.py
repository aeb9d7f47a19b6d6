"""Print a frame as Markdown and LaTeX, formatted by column type: the simplest way to add a table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from benchc.rendering.latex import latex_number, latex_symbols, latex_table
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import MISSING, interval_text, is_point, number_text
from benchc.rendering.output import Table

# The marks around a number in Markdown, and the command in LaTeX.
STYLES = {"bold": ("**", r"\mathbf"), "italic": ("*", r"\mathit")}
POINTS = f" Where all resamples give one value, which shows no spread, the interval is [{MISSING}]."


class Column(NamedTuple):
    """A column of a printed table. Texts are printed as they are, integers without decimals.

    ``latex``: the header in LaTeX, where it is not that of ``latex_symbols``. ``signed``: a shift, printed
    with its sign. ``digits``: the number of decimals. ``form`` returns the text of a number, or of null, that
    is printed in another way. ``inches``: the width in LaTeX of a column of
    long texts, which break into lines.

    These use further columns of the frame: ``interval``: ``{name}_low`` and ``{name}_high`` are printed after
    the number; ``rank``: ``rank_{name}`` follows in brackets, in LaTeX as a superscript, unless it is null;
    ``styled``: ``{name}_style`` is a key of ``STYLES``, or null.
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
    inches: float | None = None


def printed(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    *,
    caption: str,
    label: str,
    latex_caption: str | None = None,
    shown: pl.DataFrame | None = None,
    references: int = 0,
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
        references: how many rows, the first ones, have no interval: chance, and what a paper gives.
        text_columns: how many columns are flush left, where not all columns of texts are.
        small: in footnote size in LaTeX, for a table that is too wide otherwise.
        published: as in :class:`Table`.
        summary: as in :class:`Table`.
    """
    shown = frame if shown is None else shown
    if text_columns is None:
        text_columns = sum(shown[column.name].dtype == pl.String and not column.form for column in columns)
    cells = [
        [_cell(row, column, number < references) for column in columns]
        for number, row in enumerate(shown.iter_rows(named=True))
    ]
    points = POINTS if any(_has_point(columns, row) for row in shown.iter_rows(named=True)) else ""
    header = [column.header for column in columns]
    latex = latex_table(
        [column.latex or latex_symbols(column.header) for column in columns],
        [[text for _, text in row] for row in cells],
        caption=(latex_symbols(caption) if latex_caption is None else latex_caption) + latex_symbols(points),
        label=label,
        text_columns=text_columns,
        small=small,
        inches=[column.inches for column in columns],
    )
    markdown = captioned(header, [[text for text, _ in row] for row in cells], caption + points, text_columns)
    return Table(frame, markdown, latex, published, summary)


def _has_point(columns: Sequence[Column], row: Mapping[str, Any]) -> bool:
    return any(
        column.interval
        and row[column.name] is not None
        and is_point(row[f"{column.name}_low"], row[f"{column.name}_high"], column.digits)
        for column in columns
    )


def _cell(row: Mapping[str, Any], column: Column, is_reference: bool) -> tuple[str, str]:
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
    if column.interval and not is_reference:
        low, high = (row[f"{column.name}_{end}"] for end in ("low", "high"))
        text += f" {interval_text(low, high, signed=column.signed, digits=column.digits)}"
    style = row[f"{column.name}_style"] if column.styled else None
    rank = row[f"rank_{column.name}"] if column.rank else None
    if style is None and rank is None:
        return text, latex_number(text)
    mark, command = STYLES[style] if style else ("", "")
    formula = f"{command}{{{text}}}" if command else text
    if rank is None:
        return f"{mark}{text}{mark}", f"${formula}$"
    return f"{mark}{text}{mark} ({rank})", f"${formula}^{{({rank})}}$"
