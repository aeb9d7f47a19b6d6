"""Tables as Markdown whose columns line up in a terminal."""

import re
import textwrap
import unicodedata
from collections.abc import Sequence

CAPTION_WIDTH = 110
DIRECTIONS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))

# What Markdown, and GitHub's formulas, read as markup. Other uses of these characters stay as they are, so
# that tables are readable in a terminal: "a_b", "p < 0.1", "Q&A", "[0.1, 0.2]".
MARKUP = re.compile(
    r"[\\`*~$]|(?<!\w)_|_(?!\w)"
    r"|<(?=[A-Za-z/!?])"  # a tag
    r"|&(?=#?\w+;)"  # a character reference
    r"|\](?=[(\[])"  # a link
)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Return a pipe table; the first ``text_columns`` columns are flush left, the others flush right.

    The header and the first columns are plain texts; other cells, numbers, may be bold. Raises ValueError
    where a row is not as long as the header.
    """
    cells = [list(map(markdown_text, header))]
    cells += [[*map(markdown_text, row[:text_columns]), *row[text_columns:]] for row in rows]
    grid = [[cell.replace("|", r"\|") for cell in row] for row in cells]
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
    """Return :func:`markdown` with a caption, a plain text, below."""
    return f"{markdown(header, rows, text_columns)}\n{paragraph(caption)}"


def paragraph(text: str, mark: str = "") -> str:
    """Return a plain ``text`` in lines of at most ``CAPTION_WIDTH`` characters.

    ``mark``: what begins the first line, such as "- " of a list; the others are indented by its width.
    """
    indent = " " * len(mark)
    # Of a line that breaks at a hyphen, Markdown would show a space in the word.
    filled = textwrap.fill(
        markdown_text(text),
        CAPTION_WIDTH,
        initial_indent=mark,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return filled + "\n"


def markdown_text(text: str) -> str:
    """Return a plain ``text``, such as a label, in one line of Markdown that shows it unchanged."""
    return MARKUP.sub(r"\\\g<0>", one_line(text))


def one_line(text: str) -> str:
    """Return ``text`` with a space for each control character, line break and change of the direction."""
    return "".join(" " if _is_control(letter) else letter for letter in text)


def _is_control(letter: str) -> bool:
    # Of the directions, those that reorder what follows them in the line.
    return (
        unicodedata.category(letter) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(letter) in DIRECTIONS
    )


def check_lengths(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Raise ValueError where a row is not as long as the header."""
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells, the header {len(header)}")
