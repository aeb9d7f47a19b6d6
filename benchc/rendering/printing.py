"""Print a frame as Markdown and LaTeX by what its columns hold: the plain way for a new table."""

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from benchc.rendering.environment import table_environment
from benchc.rendering.grid import booktabs, latex_symbols, markdown
from benchc.rendering.numbers import CAPTION_WIDTH, MISSING, interval_text, number_text
from benchc.rendering.output import Table


class Column(NamedTuple):
    """A column of a printed table. Texts are printed as they are, whole numbers without decimals.

    ``signed``: a shift, printed with its sign. ``interval``: the columns ``{name}_low`` and ``{name}_high``
    are printed behind the number.
    """

    name: str
    header: str
    signed: bool = False
    interval: bool = False


def printed(
    frame: pl.DataFrame, columns: Sequence[Column], *, caption: str, label: str, summary: str = ""
) -> Table:
    """Return ``frame`` as a table that shows ``columns``, those of texts first; ``label`` is LaTeX's."""
    texts = sum(frame[column.name].dtype == pl.String for column in columns)
    header = [column.header for column in columns]
    rows = [[_cell(row, column) for column in columns] for row in frame.iter_rows(named=True)]
    latex_rows = [[*map(latex_symbols, row[:texts]), *map(_latex_number, row[texts:])] for row in rows]
    return Table(
        frame,
        f"{markdown(header, rows, text_columns=texts)}\n{textwrap.fill(caption, CAPTION_WIDTH)}\n",
        table_environment(
            booktabs([*map(latex_symbols, header)], latex_rows, texts), latex_symbols(caption), f"tab:{label}"
        ),
        summary=summary,
    )


def _cell(row: dict[str, str | float | None], column: Column) -> str:
    value = row[column.name]
    if isinstance(value, str):
        return value
    text = number_text(value, column.signed, whole=isinstance(value, int))
    if not column.interval or value is None:
        return text
    low, high = (row[f"{column.name}_{end}"] for end in ("low", "high"))
    assert not isinstance(low, str) and not isinstance(high, str)
    return f"{text} {interval_text(low, high, signed=column.signed)}"


def _latex_number(text: str) -> str:
    if text == MISSING:
        return "--"
    return "$" + text.replace(MISSING, r"\textrm{--}").replace(" [", r"\ [") + "$"
