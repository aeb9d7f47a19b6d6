"""Tables as Markdown whose columns line up in a terminal."""

import textwrap
from collections.abc import Sequence

CAPTION_WIDTH = 110


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Return a pipe table; the first ``text_columns`` columns are flush left, the others flush right.

    A "|" in a cell is escaped. Raises ValueError where a row is not as long as the header.
    """
    grid = [[cell.replace("|", r"\|") for cell in row] for row in (header, *rows)]
    check_lengths(header, rows)
    widths = [max(3, *map(len, column)) for column in zip(*grid, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.ljust(width) if column < text_columns else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(cells)} |\n"

    rule = [
        "-" * width if column < text_columns else "-" * (width - 1) + ":"
        for column, width in enumerate(widths)
    ]
    return "".join(map(line, (grid[0], rule, *grid[1:])))


def captioned(
    header: Sequence[str], rows: Sequence[Sequence[str]], caption: str, text_columns: int = 1
) -> str:
    """Return :func:`markdown` with a caption below."""
    return f"{markdown(header, rows, text_columns)}\n{paragraph(caption)}"


def paragraph(text: str) -> str:
    """Return ``text`` in lines of at most ``CAPTION_WIDTH`` characters."""
    return textwrap.fill(text, CAPTION_WIDTH) + "\n"


def check_lengths(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Raise ValueError where a row is not as long as the header."""
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells, the header {len(header)}")
